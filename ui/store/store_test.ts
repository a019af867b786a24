import assert from "node:assert/strict";
import fc from "fast-check";
import type { ConversationEvent, Item } from "../../edge/api.ts";
import {
  sampleActors,
  sampleConversations,
  sampleEvents,
  sampleItems,
  sampleMe,
} from "../../tests/doubles/fake_api/samples.ts";
import { emptyTranscript } from "../../lib/transcript.ts";
import { createTestApp, Refusal, type TestApp } from "./_test_app.ts";
import { groupActors, mergeActor } from "./actors.ts";
import { withEvents } from "./chat.ts";
import { listed, mergeConversations } from "./conversations.ts";
import { mergeItems, settledItems, waitingItems } from "./inbox.ts";
import { tokenOf } from "./session.ts";

const now = 1_000_000;
const items = sampleItems(now);
const waiting = items.find(({ id }) => id === "i2");
assert.ok(waiting);
const item = (more: Partial<Item>): Item => ({ ...waiting, ...more });

/** Lets every answer that is on its way arrive. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
}

async function signedIn(options: { readonly path?: string } = {}): Promise<TestApp> {
  const test = createTestApp(options);
  test.answers.set("GET /me", () => sampleMe(now));
  test.answers.set("GET /inbox", () => ({ items, total: items.length }));
  test.answers.set("GET /conversations", () => ({ conversations: sampleConversations(now) }));
  test.answers.set("GET /actors", () => ({
    actors: sampleActors(now),
    source: "live",
    supervisor: { away: false },
  }));
  await test.app.start();
  await settled();
  return test;
}

// --- reducers ---

Deno.test("items end the same in whatever order their news arrives", () => {
  const story = [
    item({ version: 1, state: "waiting", updatedAt: 1 }),
    item({ version: 2, state: "decided", updatedAt: 2 }),
    item({ version: 2, state: "applied", updatedAt: 3 }),
  ];

  fc.assert(fc.property(fc.shuffledSubarray([...story, ...story], { minLength: 6, maxLength: 6 }), (news) => {
    const known = news.reduce<ReadonlyMap<string, Item>>((map, one) => mergeItems(map, [one]), new Map());
    assert.equal(known.get("i2")?.state, "applied");
  }));
});

Deno.test("the riskiest waits on top, then the oldest, then what was put off", () => {
  const list = [
    item({ id: "low", risk: "low", createdAt: 1 }),
    item({ id: "later", risk: "high", laterUntil: now + 1 }),
    item({ id: "young", risk: "high", createdAt: 9 }),
    item({ id: "old", risk: "high", createdAt: 2 }),
    item({ id: "done", state: "applied" }),
  ];

  assert.deepEqual(waitingItems(list, now).map(({ id }) => id), ["old", "young", "low", "later"]);
  assert.deepEqual(waitingItems(list, now + 2).at(0)?.id, "old");
  assert.ok(waitingItems(list, now, new Set(["done"])).some(({ id }) => id === "done"));
  assert.deepEqual(settledItems(list, 5).map(({ id }) => id), ["done"]);
});

Deno.test("an older conversation row never replaces a newer one, and search needs every word", () => {
  const [row] = sampleConversations(now);
  assert.ok(row);
  const known = mergeConversations(new Map([[row.id, row]]), [{
    ...row,
    title: "old",
    updatedAt: row.updatedAt - 1,
  }]);

  assert.equal(known.get(row.id)?.title, row.title);
  assert.equal(listed(known, "NIGHTLY zstd").length, 1);
  assert.equal(listed(known, "nightly nothing").length, 0);
});

Deno.test("an actor's earlier incarnation cannot undo a later one, and the parked stand first", () => {
  const [actor] = sampleActors(now).slice(-1);
  assert.ok(actor);
  const known = mergeActor(new Map([[actor.ref, { ...actor, incarnation: 3 }]]), {
    ...actor,
    incarnation: 2,
    state: "live",
  });

  assert.equal(known.get(actor.ref)?.state, "parked");
  assert.equal(groupActors(sampleActors(now))[1]?.actors[0]?.state, "parked");
});

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

Deno.test("the token of a link is read from the fragment alone", () => {
  assert.equal(tokenOf("#token=abc%2Fd"), "abc/d");
  for (const fragment of ["", "#", "#token=", "#other=1"]) assert.equal(tokenOf(fragment), undefined);
});

// --- session ---

Deno.test("a link's token is sent on a tap, once, and signing in reads everything behind the stream", async () => {
  const test = createTestApp({ fragment: "#token=one-time-token-0001" });
  test.answers.set("GET /me", () =>
    new Refusal(401, { error: { code: "unauthorized", message: "Sign in first" } }));
  await test.app.start();
  assert.equal(test.app.session.state.value, "signed_out");
  assert.equal(test.calls.some(({ call }) => call === "POST /session"), false);

  test.answers.set("POST /session", () => ({ ok: true }));
  test.answers.set("GET /me", () => sampleMe(now));
  await test.app.session.signIn(test.app.session.linkToken.value ?? "");

  assert.equal(test.app.session.state.value, "signed_in");
  assert.equal(test.app.session.linkToken.value, undefined);
  assert.equal(test.streams.length, 1);
});

Deno.test("a 401 in the middle forgets what was on screen", async () => {
  const test = await signedIn();
  assert.ok(test.app.inbox.items.value.size > 0);

  test.answers.set("GET /actors", () =>
    new Refusal(401, { error: { code: "unauthorized", message: "Sign in first" } }));
  await test.app.actors.load();

  assert.equal(test.app.session.state.value, "signed_out");
  assert.equal(test.app.inbox.items.value.size, 0);
  assert.equal(test.streams[0]?.readyState, 2);
});

// --- deciding ---

Deno.test("a decision carries version and CSRF token and shows nothing before the answer", async () => {
  const test = await signedIn();
  const answer = Promise.withResolvers<Item>();
  test.answers.set("POST /inbox/i2/decision", () => answer.promise);

  const deciding = test.app.inbox.decide(item({}), { decision: "allow_once" });
  assert.equal(test.app.inbox.items.value.get("i2")?.state, "waiting");
  assert.equal(test.app.inbox.deciding.value.get("i2")?.phase, "sending");
  answer.resolve(item({ version: 2, state: "decided" }));
  await deciding;

  assert.equal(test.app.inbox.items.value.get("i2")?.state, "decided");
  assert.equal(test.app.inbox.deciding.value.size, 0);
  const sent = test.calls.find(({ call }) => call === "POST /inbox/i2/decision");
  assert.deepEqual(sent?.body, { decision: "allow_once", version: 1 });
  assert.equal(sent?.headers.get("X-Callboard-Csrf"), "csrf");
});

Deno.test("a decision that came too late shows the winner", async () => {
  const test = await signedIn();
  const winner = { decision: "reject_once", by: "Grace", surface: "zulip", at: now } as const;
  test.answers.set("POST /inbox/i2/decision", () =>
    new Refusal(409, {
      error: { code: "conflict", message: "Grace was first" },
      item: item({ version: 2, state: "decided", decision: winner }),
    }));

  await test.app.inbox.decide(item({}), { decision: "allow_once" });

  assert.equal(test.app.inbox.items.value.get("i2")?.decision?.by, "Grace");
  const refused = test.app.inbox.deciding.value.get("i2");
  assert.equal(refused?.phase === "refused" && refused.message, "Grace was first");
});

Deno.test("the badge counts what waits and was not put off, and the stream moves it", async () => {
  const test = await signedIn();
  assert.equal(test.app.inbox.badge.value, 4);

  test.streams[0]?.emit("item", { item: item({ version: 2, state: "applied" }) }, 7);
  test.streams[0]?.emit("item", { item: item({ version: 1 }) }, 8);

  assert.equal(test.app.inbox.badge.value, 3);
});

Deno.test("a card that was seen is told once a version", async () => {
  const test = await signedIn();
  test.answers.set("POST /inbox/i2/seen", () => undefined);

  await test.app.inbox.seen(item({}));
  await test.app.inbox.seen(item({}));

  assert.equal(test.calls.filter(({ call }) => call === "POST /inbox/i2/seen").length, 1);
});

// --- the stream ---

Deno.test("a stream that is lost for good is opened again behind its cursor", async () => {
  const test = await signedIn();
  test.streams[0]?.emit("hello", { cursor: 41, version: "0" }, 41);
  assert.equal(test.app.live.connection.value, "live");

  test.streams[0]?.fail({ closed: true });
  assert.equal(test.app.live.connection.value, "waiting");
  test.timers.at(-1)?.run();
  await settled();

  assert.equal(test.streams.at(-1)?.url, "/api/stream?after=41");
});

Deno.test("a stream that the browser reopens by itself is left alone", async () => {
  const test = await signedIn();

  test.streams[0]?.fail({ closed: false });

  assert.equal(test.app.live.connection.value, "waiting");
  assert.equal(test.timers.length, 0);
});

Deno.test("opening a chat asks the stream for its live text", async () => {
  const test = await signedIn();
  test.streams[0]?.emit("hello", { cursor: 5, version: "0" }, 5);
  test.answers.set("GET /conversations/c1/events", () => ({ events: [] }));

  test.app.router.go({ name: "chat", id: "c1" });

  assert.equal(test.streams.at(-1)?.url, "/api/stream?after=5&conversation=c1");
  assert.equal(test.streams[0]?.readyState, 2);
  await settled();
});

Deno.test("a reset reads every list anew", async () => {
  const test = await signedIn();
  const before = test.calls.length;

  test.streams[0]?.emit("reset", { cursor: 9 }, 9);
  await settled();

  const again = test.calls.slice(before).map(({ call }) => call.split("?")[0]);
  for (const call of ["GET /inbox", "GET /conversations", "GET /actors"]) {
    assert.ok(again.includes(call), call);
  }
});

// --- the open chat ---

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
  await settled();
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
  await settled();

  assert.equal(test.app.chat.transcript.value.seq, 9);
});

Deno.test("live text that comes before its turn is kept for it", async () => {
  const { test, grow } = await openChat(2);
  test.app.chat.receive("c1", { turnId: "t1", item: "t1.1.1.0", kind: "text", offset: 0, text: "Hel" });
  test.app.chat.receive("c1", { turnId: "t1", item: "t1.1.1.0", kind: "text", offset: 3, text: "lo" });

  grow(4);
  test.app.chat.reaches("c1", 4);
  await settled();

  const [turn] = test.app.chat.transcript.value.entries;
  const text = turn?.kind === "turn" ? turn.items.find((one) => one.kind === "assistant") : undefined;
  assert.equal(text?.kind === "assistant" && text.text, "Hello");
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
  await settled();

  assert.deepEqual(test.app.chat.outgoing.value, []);
  assert.equal(test.app.chat.transcript.value.queue.length, 1);
});

// --- theme ---

Deno.test("a chosen theme is applied and remembered, and the device's own leaves no trace", () => {
  const { app, storage, attributes } = createTestApp();

  app.theme.choose("dark");
  assert.equal(attributes.get("data-theme"), "dark");
  assert.equal(storage.get("callboard.theme"), "dark");
  app.theme.choose("system");
  assert.equal(attributes.has("data-theme"), false);
});
