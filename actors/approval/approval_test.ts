/** Proves what becomes of a call: allowed, refused, asked for, decided, edited, expired, withdrawn; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../store/db.ts";
import { secretPatterns } from "../../lib/policy/floor.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import { getItem } from "../../store/queries/items.ts";
import { callState, decided, furnished, itemState, owner, put } from "../../tests/doubles/approval_desk.ts";

Deno.test("an allowed call goes to the toolbox with a grant for its digest", async () => {
  await using desk = await furnished();

  await desk.judge("a", "read_file", { paths: [{ path: "/notes.md", access: "read", exists: true }] });

  const [run] = await desk.sent("tool.run");
  assert.deepEqual(run?.payload, {
    callId: "a",
    conversation: "c1",
    grant: { by: "fast_path", ref: "workspace_read", digest: "digest-a" },
    hidden: [...secretPatterns],
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

Deno.test("what a server says of its tool is kept with the reasons and allows nothing", async () => {
  await using desk = await furnished();
  const hints = { readOnly: true, destructive: false, openWorld: false };

  const id = await desk.judge("a", "mcp__mail__send", { hints, risk: "low" });

  const item = await getItem(desk.db, id ?? "", owner);
  assert.equal(item?.state, "waiting");
  const [claim] = item.trace ?? [];
  assert.deepEqual(claim, {
    step: "claim",
    outcome: "its server says: changes nothing, destroys nothing, stays inside; that allows nothing",
  });
  assert.equal((await desk.sent("tool.run")).length, 0);
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
  assert.equal(await itemState(desk, id), "waiting");

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
    desk.now += 7 * 86_400_000 - 1;
    if (personFirst) assert.ok((await put(desk, id, { decision: "allow_once" })).ok);
    desk.now += 1;
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
  await desk.post("conversation/c2", "tool.cancel", { callId: "b", reason: "mine, before it is judged" });
  assert.ok(await desk.judge("b", "exec_command"));

  assert.equal(await itemState(desk, id), "waiting");
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

Deno.test("an entry of the decisions log that was changed or removed is found", async () => {
  await using desk = await furnished();
  for (const callId of ["a", "b", "c"]) {
    await decided(desk, await desk.judge(callId, "exec_command"), { decision: "allow_once" });
  }
  assert.deepEqual(await verifyChain(desk.db, 2), { ok: true, entries: 3 });

  await desk.db.batch([sql("UPDATE decisions SET actor = 'u9' WHERE seq = 2")]);

  assert.deepEqual(await verifyChain(desk.db, 2), { ok: false, entries: 1, brokenAt: 2 });
});
