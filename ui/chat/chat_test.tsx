import assert from "node:assert/strict";
import { signal } from "@preact/signals";
import { renderToString } from "preact-render-to-string";
import type { ConversationEvent } from "../../lib/conversation_event.ts";
import { transcriptOf } from "../../lib/transcript.ts";
import { sampleEvents, sampleItems, sampleMe } from "../../tests/doubles/fake_api/samples.ts";
import { AppContext } from "../parts/use_app.ts";
import { createTestApp } from "../../tests/doubles/ui_app.ts";
import { summaryOf } from "./call.tsx";
import { TranscriptView } from "./transcript.tsx";

const now = Date.UTC(2026, 0, 2, 12);

function drawn(
  events: readonly ConversationEvent[],
  { items = sampleItems(now), role = sampleMe(now).user.role } = {},
) {
  const { app } = createTestApp();
  const me = sampleMe(now);
  const session = { ...app.session, me: signal({ ...me, user: { ...me.user, role } }) };
  for (const item of items) app.inbox.receive(item);
  return renderToString(
    <AppContext.Provider value={{ ...app, session }}>
      <TranscriptView transcript={transcriptOf(events)} outgoing={[]} />
    </AppContext.Provider>,
  );
}

Deno.test("a transcript shows words, answers as Markdown, reasoning folded and calls with their output", () => {
  const html = drawn(sampleEvents(now));

  for (
    const part of [
      "why did the backup fail",
      "<table>",
      '<details class="reasoning"',
      "no space left on device",
      "Grace",
    ]
  ) {
    assert.ok(html.includes(part), part);
  }
});

Deno.test("a call that waits can be decided where it stands", () => {
  const html = drawn(sampleEvents(now));

  assert.match(html, /Waits for you/);
  assert.match(html, /<button[^>]*>Allow once<\/button>/);
  assert.match(html, /zstd/);
});

Deno.test("a viewer sees the call that waits and no way to decide it", () => {
  const html = drawn(sampleEvents(now), { role: "viewer" });

  assert.doesNotMatch(html, /Allow once/);
  assert.match(html, /You may look at this, not decide it/);
});

Deno.test("a call whose item is not known links to the inbox", () => {
  assert.match(drawn(sampleEvents(now), { items: [] }), /href="\/inbox\/i2"/);
});

Deno.test("words of others cannot hide characters", () => {
  const [configured, queued, started, said] = sampleEvents(now);
  assert.ok(configured && queued && started && said?.type === "user_message");
  const evil = { ...said, payload: { ...said.payload, text: "rm\u202e fr-" } };

  assert.match(drawn([configured, queued, started, evil]), /\\u\{202e\}/);
});

Deno.test("a turn that runs with nothing to show says that it thinks", () => {
  assert.match(drawn(sampleEvents(now).slice(0, 4)), /Thinking…/);
});

Deno.test("a call is summed up by its first string", () => {
  assert.equal(summaryOf('{"timeout":3,"command":"ls -l"}'), "ls -l");
  assert.equal(summaryOf("not json"), "not json");
});

Deno.test("a call that a person edited is summed up by what ran, and says in its row that it was edited", () => {
  const changes = [{ name: "command", before: '"tail -n 3 logs/backup.log"', after: '"echo edited"' }];
  const resolved = (changed: typeof changes) =>
    sampleEvents(now).map((event): ConversationEvent => {
      if (event.type !== "tool_call_proposed" || event.payload.callId !== "k1") return event;
      const decided = { itemId: "i9", decision: "edit_and_allow", by: "Ada", changes: changed };
      return { ...event, type: "request_resolved", payload: { ...event.payload, ...decided } };
    });
  const rowOf = (html: string) =>
    /<summary>(?:(?!<\/summary>).)*exec_command.*?<\/summary>/.exec(html)?.[0] ?? "";

  assert.match(rowOf(drawn(resolved(changes))), /echo edited.*Edited.*Done/);
  assert.doesNotMatch(rowOf(drawn(resolved(changes))), /tail/);
  assert.doesNotMatch(rowOf(drawn(resolved([]))), /Edited/);
  assert.equal(summaryOf('{"command":"ls","cwd":"/a"}', [{ name: "command", before: '"ls"' }]), "/a");
});

for (
  const [by, sentence] of [
    ["rule", "Allowed by a rule"],
    ["bypass", "Allowed by a bypass"],
    ["fast_path", "Allowed: it only reads inside the workspace"],
    ["decision", "Allowed by a person"],
  ] as const
) {
  Deno.test(`a call that a ${by} let run says so`, () => {
    const events = sampleEvents(now).map((event) =>
      event.type === "exec_command_end"
        ? { ...event, payload: { ...event.payload, allowed: { by, ref: "x" } } }
        : event
    );

    assert.ok(drawn(events).includes(sentence));
    assert.ok(!drawn(sampleEvents(now)).includes(sentence));
  });
}
