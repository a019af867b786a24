/**
 * The transcript is folded from logs that the real conversation wrote.
 */
import assert from "node:assert/strict";
import { ada, asking, call, type Desk, text } from "../tests/doubles/conversation_desk.ts";
import { applyDelta, applyEvent, emptyTranscript, runningTurn, transcriptOf } from "./transcript.ts";
import type { TranscriptItem, TurnView } from "./transcript_view.ts";

function turns(desk: Desk): TurnView[] {
  return transcriptOf(desk.events).entries.filter((entry) => entry.kind === "turn");
}

const piece = (offset: number, words: string, item = "t1.0.0.0") =>
  ({ turnId: "t1", item, kind: "text", offset, text: words }) as const;

function last(items: readonly TranscriptItem[] | undefined): TranscriptItem | undefined {
  return items?.at(-1);
}

Deno.test("a transcript shows a turn's words, calls with their results, and how it ended", () => {
  const desk = asking();
  desk.finish([text("Looking."), call("exec_command", '{"cmd":"ls"}')], "tool_use");
  desk.result("t1.0.0", { text: "file.txt", exitCode: 0 });
  desk.finish([text("One file.")]);

  const [turn] = turns(desk);
  assert.deepEqual([turn?.id, turn?.model, turn?.state], ["t1", "acme/large", "complete"]);
  assert.deepEqual(
    turn?.items.map((item) => item.kind === "call" ? [item.tool, item.result] : [item.kind, item.text]),
    [
      ["user", "deploy it"],
      ["assistant", "Looking."],
      ["exec_command", "file.txt"],
      ["assistant", "One file."],
    ],
  );
  assert.equal(transcriptOf(desk.events).usage?.inputTokens, 20);
  assert.equal(transcriptOf(desk.events).title, "deploy it");
});

Deno.test("a call shows that it waits for a person, who decided, and its end", () => {
  const desk = asking();
  desk.finish([call("exec_command")], "tool_use");
  const seen = () => {
    const item = last(turns(desk)[0]?.items);
    return item?.kind === "call" ? [item.state, item.waitsFor, item.decision?.by, item.outcome] : [];
  };
  const running = seen();
  desk.deliver("call.waiting", { callId: "t1.0.0", itemId: "i1", kind: "approval" });
  const waiting = seen();
  desk.deliver("call.decided", { callId: "t1.0.0", itemId: "i1", decision: "reject_once", by: "Ada" });
  desk.result("t1.0.0", { outcome: "rejected" });

  assert.deepEqual(running, ["running", undefined, undefined, undefined]);
  assert.deepEqual(waiting, ["waiting", "approval", undefined, undefined]);
  assert.deepEqual(seen(), ["ended", undefined, "Ada", "rejected"]);
});

Deno.test("a call says what let it run and what a person changed in it", () => {
  const desk = asking();
  desk.finish([call("exec_command")], "tool_use");
  const changes = [{ name: "cmd", after: '"ls"' }];
  desk.deliver("call.waiting", { callId: "t1.0.0", itemId: "i1", kind: "approval" });
  desk.deliver("call.decided", {
    callId: "t1.0.0",
    itemId: "i1",
    decision: "edit_and_allow",
    by: "Ada",
    changes,
  });
  desk.result("t1.0.0", { text: "x", allowed: { by: "bypass", ref: "b1" } });

  const item = turns(desk)[0]?.items.find((item) => item.kind === "call");
  assert.deepEqual([item?.allowed, item?.changes], [{ by: "bypass", ref: "b1" }, changes]);
});

Deno.test("live pieces grow an item until the committed one takes its place", () => {
  const desk = asking();
  const asked = transcriptOf(desk.events);
  const live = [piece(0, "Hel"), piece(3, "lo"), piece(0, "late"), piece(9, "gap")].reduce(applyDelta, asked);
  desk.finish([text("Hello there.")]);
  const done = transcriptOf(desk.events, live);

  const growing = last(runningTurn(live)?.items);
  assert.deepEqual(growing, {
    kind: "assistant",
    id: "t1.0.0.0",
    text: "Hello",
    open: true,
    partial: false,
    at: 0,
  });
  assert.deepEqual(done, transcriptOf(desk.events));
  assert.equal(applyDelta(done, piece(12, " more")), done);
});

Deno.test("what a failed attempt had begun to say disappears", () => {
  const desk = asking();
  const live = applyDelta(transcriptOf(desk.events), piece(0, "half a sen"));
  desk.fail({ class: "transient", message: "reset" });
  const after = transcriptOf(desk.events, live);

  assert.deepEqual(runningTurn(after)?.items.map((item) => item.kind), ["user", "note"]);
});

Deno.test("output of a running call is shown beside it", () => {
  const desk = asking();
  desk.finish([call("exec_command")], "tool_use");
  const output = { turnId: "t1", item: "t1.0.0", kind: "output" } as const;
  const live = [{ ...output, offset: 0, text: "a" }, { ...output, offset: 1, text: "b" }, {
    ...output,
    offset: 1,
    text: "b",
  }]
    .reduce(applyDelta, transcriptOf(desk.events));

  const item = last(runningTurn(live)?.items);
  assert.equal(item?.kind === "call" && item.output, "ab");
});

Deno.test("words in the queue are shown until they are said", () => {
  const desk = asking();
  desk.say("and then test it", {}, "t2");
  const before = transcriptOf(desk.events).queue.map((input) => input.text);
  desk.finish([text("done")]);

  assert.deepEqual(before, ["and then test it"]);
  assert.deepEqual(transcriptOf(desk.events).queue, []);
  assert.deepEqual(turns(desk).map((turn) => [turn.id, turn.state]), [["t1", "complete"], ["t2", "running"]]);
});

Deno.test("notes stand in their turn or between turns", () => {
  const desk = asking();
  desk.fail({ class: "auth", message: "401" });
  desk.deliver("conversation.set_model", { by: ada, model: "acme/small" });
  desk.deliver("conversation.reset", { by: ada });

  const view = transcriptOf(desk.events);
  assert.deepEqual(view.entries.map((entry) => entry.kind === "note" ? entry.code : entry.state), [
    "failed",
    "model_set",
    "session_reset",
  ]);
  assert.equal(view.model, "acme/small");
  const note = last(turns(desk)[0]?.items);
  assert.deepEqual(note?.kind === "note" && [note.level, note.code], ["error", "auth"]);
});

Deno.test("events that were applied before change nothing", () => {
  const desk = asking();
  desk.finish([text("done")]);
  const view = transcriptOf(desk.events);

  assert.equal(desk.events.reduce(applyEvent, view), view);
  assert.equal(transcriptOf([], emptyTranscript), emptyTranscript);
});
