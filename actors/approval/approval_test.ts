/**
 * Proves the approval actor against a real database, operations and message order included. Each promise stands alone; races are made by
 * putting both messages into the mailbox before the actor looks.
 */
import assert from "node:assert/strict";
import { decide, type DecisionBody } from "../../store/decide.ts";
import { getItem } from "../../store/queries/items.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import { sql } from "../../store/db.ts";
import { ApprovalDesk } from "../../tests/doubles/approval_desk.ts";

const owner = { userId: "u1", role: "owner" as const, channels: new Map() };
const approver = { userId: "u2", role: "approver" as const, channels: new Map([[5, "approve" as const]]) };

async function furnished(): Promise<ApprovalDesk> {
  const desk = await ApprovalDesk.open();
  await desk.furnish();
  return desk;
}

function put(
  desk: ApprovalDesk,
  itemId: string | undefined,
  body: DecisionBody,
  viewer: typeof owner | typeof approver = owner,
) {
  assert.ok(itemId, "an item waits");
  const by = { viewer, name: viewer.userId, surface: "web" as const, device: "phone" };
  return decide(desk.db, { itemId, version: 1, body, by, now: desk.now, newId: desk.newId });
}

async function decided(desk: ApprovalDesk, itemId: string | undefined, body: DecisionBody) {
  const result = await put(desk, itemId, body);
  assert.ok(result.ok, "the edge took the decision");
  await desk.work();
}

const callState = async (desk: ApprovalDesk, id: string) =>
  (await desk.row("SELECT state FROM tool_calls WHERE id = ?", id))?.state;
const itemState = async (desk: ApprovalDesk, id: string | undefined) =>
  (await desk.row("SELECT state FROM pending_items WHERE id = ?", id ?? ""))?.state;

Deno.test("an allowed call goes to the toolbox with a grant for its digest", async () => {
  await using desk = await furnished();

  await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] });

  const [run] = await desk.sent("tool.run");
  assert.deepEqual(run?.payload, {
    callId: "a",
    conversation: "c1",
    grant: { by: "fast_path", ref: "workspace_read", digest: "digest-a" },
  });
  assert.equal(await callState(desk, "a"), "judged");
});

Deno.test("a denied call is refused to its conversation and never reaches the toolbox", async () => {
  await using desk = await furnished();

  await desk.judge("a", "read_file", { paths: [{ path: "/x/secrets/k", access: "read", exists: true }] });
  await desk.judge("b", "exec_command", { outside: ["/etc"] });

  const results = await desk.sent("tool.result");
  assert.deepEqual(results.map(({ to, payload }) => [to, payload.outcome]), [
    ["conversation/c1", "rejected"],
    ["conversation/c1", "rejected"],
  ]);
  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await callState(desk, "a"), "rejected");
});

Deno.test("a call that must be asked for waits as an item, a card and a note to its conversation", async () => {
  await using desk = await furnished();

  const id = await desk.judge("a", "exec_command", { argv: ["ls"], summary: "ls" });

  assert.ok(id);
  const item = await getItem(desk.db, id, owner);
  assert.equal(item?.state, "waiting");
  assert.deepEqual(item?.conversation, { id: "c1", title: "Topic", source: "channel" });
  assert.equal(item?.trace?.at(-1)?.outcome, "ask");
  const [waiting] = await desk.sent("call.waiting");
  assert.deepEqual(waiting?.payload, { callId: "a", itemId: id, kind: "approval" });
  const [card] = await desk.sent("card.show");
  assert.equal(card?.payload.state, "waiting");
  assert.equal(await callState(desk, "a"), "waiting");
});

Deno.test("allowing once runs the call, settles the item and seals the decision into the chain", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  await decided(desk, id, { decision: "allow_once", note: "fine" });

  const [run] = await desk.sent("tool.run");
  assert.deepEqual(run?.payload.grant, { by: "decision", ref: id, digest: "digest-a" });
  assert.equal(await callState(desk, "a"), "decided");
  assert.equal(await itemState(desk, id), "applied");
  const entry = await desk.row("SELECT actor, device, decision, digest FROM decisions");
  assert.deepEqual({ ...entry }, {
    actor: "u1",
    device: "phone",
    decision: "allow_once",
    digest: "digest-a",
  });
  assert.deepEqual(await verifyChain(desk.db), { ok: true, entries: 1 });
  assert.equal((await desk.sent("call.decided")).length, 1);
  assert.equal((await desk.sent("card.show")).at(-1)?.payload.state, "applied");
});

Deno.test("a decision is applied after a restart that came between", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  assert.ok((await put(desk, id, { decision: "allow_once" })).ok);

  await desk.restart();
  await desk.work();

  assert.equal((await desk.sent("tool.run")).length, 1);
  assert.equal(await itemState(desk, id), "applied");
});

Deno.test("two clicks on one item run its call once", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  const first = await put(desk, id, { decision: "allow_once" });
  const second = await put(desk, id, { decision: "allow_once" });
  await desk.work();

  assert.ok(first.ok && second.ok && second.repeated);
  assert.equal((await desk.sent("tool.run")).length, 1);
});

Deno.test("rejecting tells the model why, and cancelling also stops the turn", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");

  await decided(desk, a, { decision: "reject_once", note: "use rg" });
  await decided(desk, b, { decision: "cancel" });

  const [no, stop] = await desk.sent("tool.result");
  assert.match(String(no?.payload.text), /use rg/);
  assert.equal(no?.payload.stopTurn, false);
  assert.equal(stop?.payload.stopTurn, true);
  assert.equal(await callState(desk, "b"), "rejected");
});

Deno.test("a decision that policy by now denies is refused, recorded and told", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  // The rule is first in the mailbox, yet the decision's row is there before the rule is handled.
  await desk.queue("edge", "approval.policy", {
    by,
    command: { kind: "rule.create", rule: { action: "deny", toolPattern: "exec_command" } },
  });
  assert.ok((await put(desk, id, { decision: "allow_once" })).ok);

  await desk.work();

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed");
  assert.equal(await callState(desk, "a"), "rejected");
  const refusal = await desk.row("SELECT decision FROM decisions WHERE kind = 'refusal'");
  assert.equal(refusal?.decision, "refused_by_policy");
});

Deno.test("allowing for the session adds a bypass for the exact tool first and settles what it covers", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");
  const c = await desk.judge("c", "write_file", { paths: [{ path: "/a", access: "write", exists: false }] });

  await decided(desk, a, { decision: "allow_session", seconds: 60 });

  assert.equal(await itemState(desk, b), "applied");
  assert.equal(await itemState(desk, c), "waiting");
  const bypass = await desk.row("SELECT scope, pattern, expires_at FROM bypasses");
  assert.deepEqual({ ...bypass }, { scope: "tool", pattern: "exec_command", expires_at: desk.now + 60_000 });
  await desk.judge("d", "exec_command");
  assert.deepEqual((await desk.sent("tool.run")).map((run) => run.payload.callId), ["a", "b", "d"]);
  desk.now += 60_000;
  assert.ok(await desk.judge("e", "exec_command"), "after its time it asks again");
});

Deno.test("a session's bypasses end with the session, and never last longer than eight hours", async () => {
  await using desk = await furnished();
  await decided(desk, await desk.judge("a", "exec_command"), { decision: "allow_session", scope: "all" });
  assert.equal((await desk.row("SELECT expires_at FROM bypasses"))?.expires_at, desk.now + 8 * 3_600_000);

  await desk.post("conversation/c2", "session.ended", { reason: "reset" });
  assert.equal(desk.state.bypasses.length, 1);
  await desk.post("conversation/c1", "session.ended", { reason: "reset" });

  assert.ok(await desk.judge("b", "exec_command"));
  assert.equal((await desk.row("SELECT ended_reason FROM bypasses"))?.ended_reason, "reset");
});

Deno.test("always allowing makes the rule that was asked for, which survives a restart", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command", { argv: ["git", "status"] });
  const rule = {
    groupId: "default",
    priority: 100,
    action: "allow" as const,
    toolPattern: "exec_command",
    pathPattern: null,
    argvPrefix: ["git", "status"],
    agent: null,
    source: null,
    note: null,
    expiresAt: null,
    maxUses: 1,
  };

  await decided(desk, id, { decision: "allow_always", rule });
  await desk.restart();

  assert.equal(await desk.judge("b", "exec_command", { argv: ["git", "status", "-s"] }), undefined);
  assert.ok(await desk.judge("c", "exec_command", { argv: ["git", "status"] }), "its one use is spent");
  assert.ok(await desk.judge("d", "exec_command", { argv: ["git", "push"] }));
});

Deno.test("edited arguments are described anew and run under their own digest", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, { decision: "edit_and_allow", arguments: { command: "ls -l" } });
  const [ask] = await desk.sent("tool.redescribe");
  assert.equal(ask?.payload.arguments, '{"command":"ls -l"}');
  await desk.restart();

  const again = { ...desk.judgePayload("a", "exec_command"), digest: "new", editedFor: id };
  await desk.post("toolbox", "tool.judge", { ...again, arguments: '{"command":"rm"}' });
  assert.deepEqual(await desk.sent("tool.run"), [], "other arguments than the edited ones do not run");
  assert.equal(await itemState(desk, id), "failed");

  const other = await desk.judge("b", "exec_command");
  await decided(desk, other, { decision: "edit_and_allow", arguments: { command: "ls" } });
  const described = { ...desk.judgePayload("b", "exec_command"), digest: "new", editedFor: other };
  await desk.post("toolbox", "tool.judge", { ...described, arguments: '{ "command": "ls" }' });

  assert.deepEqual((await desk.sent("tool.run")).map((run) => run.payload.grant), [
    { by: "decision", ref: other, digest: "new" },
  ]);
  assert.equal((await desk.row("SELECT digest FROM tool_calls WHERE id = 'b'"))?.digest, "new");
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("an edit that cannot be described or delivered ends with a word to the model", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");
  for (const id of [a, b]) await decided(desk, id, { decision: "edit_and_allow", arguments: {} });

  await desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: a, message: "command is missing" });
  await desk.post("supervisor", "request.failed", {
    request: "r",
    type: "tool.redescribe",
    code: "poison",
    message: "it crashed",
    callId: "b",
    itemId: b,
  });

  assert.deepEqual((await desk.sent("tool.result")).map(({ payload }) => payload.callId), ["a", "b"]);
  assert.equal(await itemState(desk, b), "failed");
});

Deno.test("an unanswered item expires as a recorded decision, and is not a denial by anybody", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  desk.now += 7 * 86_400_000;
  await desk.work();

  assert.equal(await itemState(desk, id), "expired");
  assert.equal(await callState(desk, "a"), "expired");
  assert.equal((await desk.sent("tool.result"))[0]?.payload.outcome, "expired");
  assert.equal((await desk.row("SELECT kind FROM decisions"))?.kind, "expiry");
});

Deno.test("of an expiry and a decision exactly one wins, whichever was first", async () => {
  for (const personFirst of [true, false]) {
    await using desk = await furnished();
    const id = await desk.judge("a", "exec_command");
    desk.now += 7 * 86_400_000;
    if (personFirst) assert.ok((await put(desk, id, { decision: "allow_once" })).ok);
    await desk.work();
    if (!personFirst) assert.equal((await put(desk, id, { decision: "allow_once" })).ok, false);
    await desk.work();

    assert.equal(await itemState(desk, id), personFirst ? "applied" : "expired");
    assert.equal((await desk.sent("tool.run")).length, personFirst ? 1 : 0);
    assert.equal((await desk.sent("tool.result")).length, personFirst ? 0 : 1);
  }
});

Deno.test("a withdrawn call ends with one result wherever it is", async () => {
  await using desk = await furnished();
  const waiting = await desk.judge("a", "exec_command");

  await desk.post("conversation/c1", "tool.cancel", { callId: "a", reason: "stopped" });
  await desk.post("conversation/c1", "tool.cancel", { callId: "b", reason: "stopped" });
  await desk.judge("b", "exec_command");

  assert.equal(await itemState(desk, waiting), "cancelled");
  assert.deepEqual((await desk.sent("tool.result")).map(({ payload }) => [payload.callId, payload.outcome]), [
    ["a", "cancelled"],
    ["b", "cancelled"],
  ]);
  assert.equal(await callState(desk, "b"), "cancelled");
  assert.equal((await put(desk, waiting, { decision: "allow_once" })).ok, false);
});

Deno.test("a conversation cannot withdraw another one's call", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  await desk.post("conversation/c2", "tool.cancel", { callId: "a", reason: "mine" });

  assert.equal(await itemState(desk, id), "waiting");
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

Deno.test("policy commands are the owner's, are answered, and are entries of the chain", async () => {
  await using desk = await furnished();
  const command = (role: string, body: unknown) =>
    desk.post("edge", "approval.policy", {
      by: { userId: "u1", name: "Ada", surface: "web", role },
      command: body,
    });
  const rule = { action: "allow", toolPattern: "write_file", pathPattern: "/out/*" };

  await command("approver", { kind: "rule.create", rule });
  await command("owner", { kind: "rule.create", rule: { ...rule, toolPattern: "*_file" } });
  await command("owner", { kind: "rule.create", rule: { ...rule, groupId: "nowhere" } });
  await command("owner", { kind: "rule.create", rule });
  const made = (await desk.sent("policy.done")).at(-1)?.payload.id;
  await command("owner", { kind: "rule.delete", id: made });
  await command("owner", { kind: "rule.delete", id: made });
  await command("owner", { kind: "bypass.revoke", id: "none" });

  assert.deepEqual((await desk.sent("policy.done")).map(({ payload }) => payload.code ?? "ok"), [
    "forbidden",
    "bad_request",
    "not_found",
    "ok",
    "ok",
    "not_found",
    "not_found",
  ]);
  assert.deepEqual(await verifyChain(desk.db), { ok: true, entries: 2 });
});

Deno.test("a new rule settles the items that it covers", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "write_file", {
    paths: [{ path: "/out/a", access: "write", exists: false }],
  });
  const b = await desk.judge("b", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };

  for (
    const rule of [
      { action: "allow", toolPattern: "write_file", pathPattern: "/out/*" },
      { action: "deny", toolPattern: "exec_command" },
    ]
  ) await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });

  assert.equal(await callState(desk, "a"), "decided");
  assert.equal(await callState(desk, "b"), "rejected");
  assert.deepEqual([await itemState(desk, a), await itemState(desk, b)], ["applied", "applied"]);
});

Deno.test("rules that cannot be read make everything ask, after a restart too", async () => {
  await using desk = await furnished();
  await desk.db.batch([sql("UPDATE rules SET argv_prefix = '{broken' WHERE id = 'seed-rest'")]);
  await desk.restart();

  assert.ok(
    await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] }),
  );
  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });

  assert.deepEqual((await desk.sent("tools.listed"))[0]?.payload.tools, []);
});

Deno.test("the offered tools are those that policy does not deny outright", async () => {
  await using desk = await furnished();
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const rule = { action: "deny", toolPattern: "mcp__*" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });
  await desk.restart();

  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });

  const [listed] = await desk.sent("tools.listed");
  assert.ok(Array.isArray(listed?.payload.tools));
  assert.deepEqual(listed.payload.tools.map((tool) => [tool.name, tool.parallel]), [
    ["ask_user", false],
    ["exec_command", false],
    ["read_file", true],
    ["write_file", false],
  ]);
});

Deno.test("a call that the toolbox could not take over is answered for", async () => {
  await using desk = await furnished();
  await decided(desk, await desk.judge("a", "exec_command"), { decision: "allow_once" });
  await desk.restart();

  await desk.post("supervisor", "request.failed", {
    request: "r",
    type: "tool.run",
    code: "poison",
    message: "it crashed three times",
    callId: "a",
  });

  assert.equal((await desk.sent("tool.result"))[0]?.payload.outcome, "unknown");
  assert.equal(await callState(desk, "a"), "failed");
});

Deno.test("a decision for an item that is gone, or in another version, changes nothing", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };

  await desk.post("edge", "approval.decide", {
    itemId: "gone",
    version: 1,
    body: { decision: "allow_once" },
    by,
  });
  await desk.post("edge", "approval.decide", {
    itemId: id,
    version: 7,
    body: { decision: "allow_once" },
    by,
  });

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "waiting");
});

Deno.test("approval refuses a decider without the right role even when the edge let them through", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  await desk.post("edge", "approval.decide", {
    itemId: id,
    version: 1,
    body: { decision: "allow_once" },
    by: { userId: "u3", name: "Cy", surface: "web", role: "viewer" },
  });

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed");
  assert.equal((await desk.row("SELECT kind FROM decisions"))?.kind, "refusal");
});

Deno.test("an entry of the decisions log that was changed or removed is found", async () => {
  await using desk = await furnished();
  for (const callId of ["a", "b", "c"]) {
    await decided(desk, await desk.judge(callId, "exec_command"), { decision: "allow_once" });
  }
  assert.deepEqual(await verifyChain(desk.db, 2), { ok: true, entries: 3 });

  await desk.db.batch([sql("UPDATE decisions SET actor = 'u9' WHERE seq = 2")]);

  assert.deepEqual(await verifyChain(desk.db, 2), { ok: false, entries: 1, brokenAt: 2 });
});

Deno.test("while everything is suspended allowed calls are held, over a restart too, and run once when it is lifted", async () => {
  await using desk = await furnished();
  const say = (from: string, kind: string, by: Record<string, unknown>) =>
    desk.post(from, "approval.policy", { by: { name: "Ada", surface: "web", ...by }, command: { kind } });
  const readNotes = { paths: [{ path: "/notes.md", access: "read" as const, exists: true }] };
  await desk.judge("before", "read_file", readNotes);

  await say("zulip", "effects.suspend", { zulipUserId: 13, role: "owner" });
  assert.equal(desk.state.suspended, null, "a viewer who claims to be the owner over Zulip is not believed");
  await say("zulip", "effects.suspend", { zulipUserId: 11 });
  await desk.judge("a", "read_file", readNotes);
  const asked = await desk.judge("b", "exec_command");
  await decided(desk, asked, { decision: "allow_once" });
  await desk.judge("c", "read_file", readNotes);
  await desk.restart();
  await desk.post("conversation/c1", "tool.cancel", { callId: "c", reason: "stopped" });
  assert.deepEqual((await desk.sent("tool.run")).map(({ payload }) => payload.callId), ["before"]);
  assert.equal(await itemState(desk, asked), "applied");

  await say("edge", "effects.resume", { userId: "u2", role: "approver" });
  assert.ok(desk.state.suspended, "only the owner lifts it");
  await say("edge", "effects.resume", { userId: "u1", role: "owner" });

  assert.deepEqual((await desk.sent("tool.run")).map(({ payload }) => payload.callId), ["before", "a", "b"]);
  assert.equal((await desk.sent("policy.done")).length, 2);
  assert.equal((await verifyChain(desk.db)).ok, true);
});
