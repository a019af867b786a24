import assert from "node:assert/strict";
import fc from "fast-check";
import type { ConversationEvent } from "../../edge/api.ts";
import { emptyTranscript } from "../../lib/transcript.ts";
import { sampleEvents } from "../../tests/doubles/fake_api/samples.ts";
import { answered, Refusal, signedIn, type TestApp, UI_NOW as now } from "../../tests/doubles/ui_app.ts";
import { withEvents } from "./chat.ts";

Deno.test("a transcript takes events in order only, once each, and stops at a gap", () => {
  const log: ConversationEvent[] = sampleEvents(now).map((event) => ({ ...event }));

  fc.assert(
    fc.property(fc.shuffledSubarray(log, { minLength: log.length, maxLength: log.length }), (page) => {
      assert.equal(withEvents(emptyTranscript, page).seq, log.length);
    }),
  );
  assert.equal(withEvents(emptyTranscript, log.filter(({ seq }) => seq !== 5)).seq, 4);
  assert.equal(withEvents(withEvents(emptyTranscript, log), log).entries.length, 2);
});

async function openChat(
  count: number,
): Promise<{ readonly test: TestApp; readonly grow: (to: number) => void }> {
  const log = sampleEvents(now);
  let end = count;
  const test = await signedIn({ path: "/conversations/c1" });
  const events = () => {
    const after = Number(new URLSearchParams(test.calls.at(-1)?.call.split("?")[1]).get("after"));
    return { events: log.slice(after, end) };
  };
  test.answers.set("GET /conversations/c1/events", events);
  await test.app.chat.catchUp();
  await answered();
  return {
    test,
    grow: (to) => {
      end = to;
    },
  };
}

Deno.test("notices that come late, twice or out of order leave the log whole", async () => {
  const { test, grow } = await openChat(4);
  assert.equal(test.app.chat.transcript.value.seq, 4);

  grow(9);
  for (const seq of [9, 6, 9, 2]) test.app.chat.reaches("c1", seq);
  test.app.chat.reaches("other", 50);
  await answered();

  assert.equal(test.app.chat.transcript.value.seq, 9);
});

Deno.test("live text that comes before its turn is kept for it", async () => {
  const { test, grow } = await openChat(2);
  test.app.chat.receive("c1", { turnId: "t1", item: "t1.1.1.0", kind: "text", offset: 0, text: "Hel" });
  test.app.chat.receive("c1", { turnId: "t1", item: "t1.1.1.0", kind: "text", offset: 3, text: "lo" });

  grow(4);
  test.app.chat.reaches("c1", 4);
  await answered();

  const [turn] = test.app.chat.transcript.value.entries;
  const text = turn?.kind === "turn" ? turn.items.find((one) => one.kind === "assistant") : undefined;
  assert.equal(text?.kind === "assistant" && text.text, "Hello");
});

Deno.test("a live piece that comes after the log has its text is dropped", async () => {
  const { test } = await openChat(9);
  const before = test.app.chat.transcript.value;

  test.app.chat.receive("c1", {
    turnId: "t1",
    item: "t1.1.1.0",
    kind: "reasoning",
    offset: 0,
    text: "The log",
  });
  test.app.chat.receive("c1", { turnId: "t1", item: "t1.2.1.0", kind: "text", offset: 0, text: "The disk" });

  assert.deepEqual(test.app.chat.transcript.value, before);
});

Deno.test("a live piece that was early for text that the log brings is dropped", async () => {
  const { test, grow } = await openChat(2);
  test.app.chat.receive("c1", {
    turnId: "t1",
    item: "t1.1.1.0",
    kind: "reasoning",
    offset: 0,
    text: "The log",
  });

  grow(8);
  test.app.chat.reaches("c1", 8);
  await answered();

  const [turn] = test.app.chat.transcript.value.entries;
  assert.equal(turn?.kind === "turn" && turn.items.filter((one) => one.kind === "reasoning").length, 1);
});

Deno.test("words stay in the box when they could not be sent", async () => {
  const { test } = await openChat(4);
  test.answers.set("POST /conversations/c1/messages", () =>
    new Refusal(503, { error: { code: "unavailable", message: "Not now" } }));

  test.app.chat.write("keep me");
  const sent = await test.app.chat.submit();

  assert.equal(sent, undefined);
  assert.equal(test.app.chat.draft.value, "keep me");
  assert.deepEqual(test.app.chat.outgoing.value, []);
  assert.equal(test.app.chat.error.value, "Not now");
});

Deno.test("sent words are shown until the log has them, and only once", async () => {
  const { test, grow } = await openChat(1);
  test.answers.set("POST /conversations/c1/messages", () => ({ id: "m1", conversation: "c1" }));

  test.app.chat.write("hello");
  await test.app.chat.submit();
  assert.equal(test.app.chat.outgoing.value[0]?.text, "hello");
  grow(2);
  test.app.chat.reaches("c1", 2);
  await answered();

  assert.deepEqual(test.app.chat.outgoing.value, []);
  assert.equal(test.app.chat.transcript.value.queue.length, 1);
});
