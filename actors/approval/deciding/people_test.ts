/** Proves who may decide and how: clicks, reactions and answers, racing or not; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { getItem } from "../../../store/queries/items.ts";
import {
  callState,
  decided,
  furnished,
  gate,
  itemState,
  owner,
  put,
} from "../../../tests/doubles/approval_desk.ts";

Deno.test("two clicks on one item run its call once", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  const first = await put(desk, id, { decision: "allow_once" });
  const second = await put(desk, id, { decision: "allow_once" });
  await desk.work();

  assert.ok(first.ok && second.ok && second.repeated);
  assert.equal((await desk.sent("tool.run")).length, 1);
});

Deno.test("a question is answered in words, declined, or stops the turn; it is never approved", async () => {
  await using desk = await furnished();
  const raise = async (callId: string) => {
    await desk.post("toolbox", "question.raise", {
      callId,
      turnId: "t1",
      conversation: "c1",
      kind: "question",
      question: "Which colour?",
      suggestions: ["red"],
    });
    return [...desk.state.items.values()].find((item) => item.callId === callId)?.id;
  };
  const [a, b, c] = [await raise("a"), await raise("b"), await raise("c")];

  const wrong = await put(desk, a, { decision: "allow_once" });
  await decided(desk, a, { decision: "answer", answer: "blue" });
  await decided(desk, b, { decision: "reject_once" });
  await decided(desk, c, { decision: "cancel" });

  assert.equal(wrong.ok, false);
  const answers = (await desk.sent("question.answered")).map((
    { payload },
  ) => [payload.outcome, payload.answer]);
  assert.deepEqual(answers, [["answered", "blue"], ["declined", undefined], ["cancelled", undefined]]);
  assert.equal((await desk.sent("conversation.stop")).length, 1);
  const item = await getItem(desk.db, a ?? "", owner);
  assert.deepEqual([item?.question, item?.suggestions], ["Which colour?", ["red"]]);
});

Deno.test("a reaction decides only on the whole card of an open item, by somebody who may approve there", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await desk.restart();
  const react = (zulipUserId: number, messageId = 900, emoji = "+1") =>
    desk.post("zulip", "approval.react", { messageId, zulipUserId, name: "Z", emoji });
  const shown = (version: number, whole: boolean) =>
    desk.post("zulip", "card.shown", { itemId: id, version, messageId: 900, whole });

  await react(12);
  await shown(2, true);
  await react(12);
  await shown(1, false);
  await react(12);
  await react(12);
  await shown(1, true);
  await react(13);
  await react(99);
  await react(12, 901);
  await react(12, 900, "tada");
  assert.equal(await itemState(desk, id), "waiting");
  await react(12);
  await react(11, 900, "-1");

  assert.equal(await itemState(desk, id), "applied");
  assert.equal((await desk.sent("tool.run")).length, 1);
  const notes = (await desk.sent("topic.note")).map(({ payload }) =>
    String(payload.key).split("/").slice(2).join("/")
  );
  assert.deepEqual([...new Set(notes)], ["not_whole/12", "not_linked/13", "not_linked/99"]);
  const entry = await desk.row("SELECT actor, surface FROM decisions");
  assert.deepEqual({ ...entry }, { actor: "u2", surface: "zulip" });
});

Deno.test("a reaction never decides a call of high risk or a question", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command", { risk: "high" });
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });

  await desk.post("zulip", "approval.react", { messageId: 900, zulipUserId: 11, name: "Z", emoji: "check" });

  assert.equal(await itemState(desk, id), "waiting");
  assert.match(String((await desk.sent("topic.note"))[0]?.payload.text), /high risk/);
});

Deno.test("when nobody who may decide can be reached, the topic and the item say so at once", async () => {
  await using desk = await furnished();
  const notes = async () => (await desk.sent("topic.note")).map(({ payload }) => payload.key);
  const steps = async (id: string | undefined) =>
    (await getItem(desk.db, id ?? "", owner))?.trace?.map(({ step }) => step) ?? [];
  const people = (sessionUntil: number | null, zulipUserId: number | null = null) =>
    desk.post("edge", "people.known", {
      users: [
        { id: "u2", name: "Bo", role: "approver", zulipUserId, channels: [5], sessionUntil },
        { id: "u3", name: "Cy", role: "viewer", zulipUserId: 13, channels: [], sessionUntil: desk.now + 1 },
      ],
    });

  await people(desk.now + 1);
  const reached = await desk.judge("a", "exec_command");
  await people(null, 12);
  const reacting = await desk.judge("b", "exec_command");
  assert.deepEqual(await notes(), []);
  assert.ok(![...await steps(reached), ...await steps(reacting)].includes("reach"));

  await desk.judge("c", "exec_command", { risk: "high" });
  await people(desk.now);
  const lonely = await desk.judge("d", "exec_command");

  assert.deepEqual(new Set(await notes()), new Set(["unreachable/t1"]), "one note a turn");
  assert.equal((await steps(lonely))[0], "reach");
  assert.equal(await itemState(desk, lonely), "waiting");
});

Deno.test("somebody who may not allow what they asked for reaches nobody", async () => {
  await using desk = await furnished();
  const judge = async (callId: string) => {
    await desk.db.batch([sql(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
       VALUES (?, 'c1', ?, ?, 'exec_command', '{}', 'described', ?, 1, 1)`,
      callId,
      `t-${callId}`,
      callId,
      `digest-${callId}`,
    )]);
    const payload = { ...desk.judgePayload(callId, "exec_command", { risk: "high" }), turnId: `t-${callId}` };
    await desk.post("toolbox", "tool.judge", { ...payload, requestedBy: [{ kind: "web", id: "u1" }] });
    return (await desk.sent("topic.note")).length;
  };

  assert.equal(await judge("a"), 0, "the owner is signed in");
  await gate(desk, { requesterMayApprove: false });
  assert.equal(await judge("b"), 1);
});

Deno.test("whether somebody is signed in is known after a restart", async () => {
  await using desk = await furnished();
  await desk.judge("a", "exec_command", { risk: "high" });
  assert.deepEqual(await desk.sent("topic.note"), []);
  await desk.db.batch([sql("DELETE FROM sessions")]);
  await desk.restart();

  await desk.judge("b", "exec_command", { risk: "high" });

  assert.equal((await desk.sent("topic.note")).length, 1);
});

Deno.test("the setting zulip_approvers names who may react without an account here", async () => {
  await using desk = await furnished();
  await desk.db.batch([sql("INSERT INTO settings (key, value, at) VALUES ('zulip_approvers', '[77]', 1)")]);
  await desk.restart();
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });

  await desk.post("zulip", "approval.react", {
    messageId: 900,
    zulipUserId: 77,
    name: "Zed",
    emoji: "cross_mark",
  });

  assert.equal(await itemState(desk, id), "applied");
  assert.equal((await desk.row("SELECT actor FROM decisions"))?.actor, "zulip:77");
  assert.equal(await callState(desk, "a"), "rejected");
});

Deno.test("of a reaction and a decision at the edge exactly one wins, whichever row was first", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });
  // The edge's row is committed while the reaction already waits in the mailbox, so the reaction is handled first and its claim loses.
  await desk.queue("zulip", "approval.react", { messageId: 900, zulipUserId: 11, name: "Z", emoji: "+1" });
  assert.ok((await put(desk, id, { decision: "reject_once" })).ok);

  await desk.work();

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await callState(desk, "a"), "rejected");
  assert.equal((await desk.row("SELECT count(*) AS n FROM decisions"))?.n, 1);
  assert.equal((await getItem(desk.db, id ?? "", owner))?.decision?.decision, "reject_once");
});

Deno.test("a linked approver's reaction counts whoever else may react, and a stranger is told so once", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });
  const react = (zulipUserId: number, emoji: string) =>
    desk.post("zulip", "approval.react", { messageId: 900, zulipUserId, name: "Z", emoji });

  await react(99, "tada");
  for (const _ of [1, 2]) await react(99, "+1");
  assert.equal(await itemState(desk, id), "waiting");
  const keys = (await desk.sent("topic.note")).map(({ payload }) => payload.key);
  assert.equal(new Set(keys).size, 1, "the key makes it one note");
  await react(12, "+1");

  assert.equal(await callState(desk, "a"), "decided");
});
