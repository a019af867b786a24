/** Proves which waiting calls a change of policy settles, and that no other one is let go with them; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import {
  type ApprovalDesk,
  callState,
  decided,
  furnished,
  gate,
  itemState,
  put,
} from "../../../tests/doubles/approval_desk.ts";

const notes = { paths: [{ path: "/notes.md", access: "read" as const, exists: true }] };
const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
const command = (desk: ApprovalDesk, body: Record<string, unknown>) =>
  desk.post("edge", "approval.policy", { by, command: body });

/** A call of another conversation that waits. */
async function elsewhere(desk: ApprovalDesk, callId: string, tool: string): Promise<string | undefined> {
  await desk.db.batch([sql(
    `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
     VALUES (?, 'c2', 't2', ?, ?, '{}', 'described', ?, 1, 1)`,
    callId,
    callId,
    tool,
    `digest-${callId}`,
  )]);
  const payload = { ...desk.judgePayload(callId, tool), conversation: "c2", turnId: "t2" };
  await desk.post("toolbox", "tool.judge", payload);
  return [...desk.state.items.values()].find((item) => item.callId === callId)?.id;
}

Deno.test("a call that the brake holds is let go by no change of policy, over a restart too", async () => {
  await using desk = await furnished();
  await gate(desk, { callsPerMinute: 1 });
  await desk.judge("a", "read_file", notes);
  const braked = await desk.judge("b", "read_file", notes);
  await desk.restart();

  await decided(desk, await desk.judge("c", "exec_command"), { decision: "allow_session", scope: "all" });
  await command(desk, { kind: "rule.create", rule: { action: "allow", toolPattern: "*" } });
  await gate(desk, { callsPerMinute: null });

  assert.equal(await itemState(desk, braked), "waiting");
  await command(desk, { kind: "rule.create", rule: { action: "deny", toolPattern: "*", priority: 1 } });
  assert.equal(await callState(desk, "b"), "rejected", "a denial reaches it all the same");
});

Deno.test("what somebody allows for a session settles calls of their conversation only, by the bypass and by nobody", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");
  const c = await elsewhere(desk, "c", "exec_command");
  // It waits for a rule that has run out meanwhile: policy would allow it by now, but not because of this.
  const rule = { action: "allow", toolPattern: "mcp__mail__send" };
  await command(desk, { kind: "rule.create", rule });
  await command(desk, {
    kind: "rule.create",
    rule: { ...rule, action: "ask", priority: 1, expiresAt: desk.now + 10 },
  });
  const d = await desk.judge("d", "mcp__mail__send");
  desk.now += 11;

  await decided(desk, a, { decision: "allow_session" });

  const states = await Promise.all([b, c, d].map((id) => itemState(desk, id)));
  assert.deepEqual(states, ["applied", "waiting", "waiting"]);
  const [bypass] = desk.state.bypasses;
  const grant = (await desk.sent("tool.run")).find(({ payload }) => payload.callId === "b")?.payload.grant;
  assert.deepEqual(grant, { by: "bypass", ref: bypass?.id, digest: "digest-b" });
  const entry = await desk.row("SELECT kind, actor, decision, body FROM decisions WHERE call_id = 'b'");
  assert.deepEqual([entry?.kind, entry?.actor, entry?.decision], ["settled", "system", "allow"]);
  assert.equal(JSON.parse(String(entry?.body)).ref, bypass?.id);
  const item = await desk.row("SELECT decision, decided_by FROM pending_items WHERE id = ?", b ?? "");
  assert.equal(item?.decided_by, "system");
  assert.deepEqual(JSON.parse(String(item?.decision)), {
    decision: "allow_once",
    by: "policy",
    surface: "system",
  });
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a rule settles what it decides and nothing else; the model is told of the rule", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "mcp__mail__send");
  const c = await elsewhere(desk, "c", "exec_command");

  await command(desk, { kind: "rule.create", rule: { action: "allow", toolPattern: "exec_command" } });
  await command(desk, { kind: "rule.create", rule: { action: "deny", toolPattern: "mcp__*", priority: 1 } });

  const states = await Promise.all([a, b, c].map((id) => itemState(desk, id)));
  assert.deepEqual(states, ["applied", "applied", "applied"]);
  assert.match(String((await desk.sent("tool.result"))[0]?.payload.text), /Refused by policy/);
  assert.equal((await desk.row("SELECT count(*) AS n FROM decisions WHERE kind = 'decision'"))?.n, 0);
});

Deno.test("nobody but approval can say that an item is settled", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  await desk.post("edge", "approval.decide", {
    itemId: id,
    version: 1,
    body: { decision: "allow_once" },
    by: { userId: "u3", name: "Cy", surface: "web", role: "viewer" },
    settled: { by: "rule", ref: "x" },
  });

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed");
});

Deno.test("always rejecting says so when there is no rule of it", async () => {
  await using desk = await furnished();
  const rule = {
    groupId: "gone",
    priority: 100,
    action: "deny" as const,
    toolPattern: "exec_command",
    pathPattern: null,
    argvPrefix: null,
    agent: null,
    source: null,
    note: null,
    expiresAt: null,
    maxUses: null,
  };

  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, { decision: "reject_always", rule });

  const note = (await desk.row("SELECT note FROM pending_items WHERE id = ?", id ?? ""))?.note;
  assert.match(String(note), /^Rejected once; the rule was not made: There is no group "gone"/);
  assert.equal(await callState(desk, "a"), "rejected");
});

Deno.test("where two must allow it, a wider answer of either says that nothing was widened", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const first = await desk.judge("a", "exec_command");
  const second = await desk.judge("b", "exec_command");
  const noteOf = async (id: string | undefined) =>
    String((await desk.row("SELECT note FROM pending_items WHERE id = ?", id ?? ""))?.note);

  await decided(desk, first, { decision: "allow_session" });
  assert.match(await noteOf(first), /nothing is widened/);
  await desk.post("zulip", "card.shown", { itemId: second, version: 1, messageId: 9, whole: true });
  const react = { messageId: 9, zulipUserId: 12, name: "Bo", emoji: "+1" };
  await desk.post("zulip", "approval.react", react);
  assert.equal(await noteOf(second), "null");
  const body = { decision: "allow_session" };
  await desk.post("edge", "approval.decide", { itemId: second, version: 3, body, by });

  assert.match(await noteOf(second), /nothing is widened/);
  assert.equal(await callState(desk, "b"), "decided");
  assert.equal((await desk.row("SELECT count(*) AS n FROM bypasses"))?.n, 0);
});

Deno.test("what a session was to let go waits again when the session ends first", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");

  assert.ok((await put(desk, a, { decision: "allow_session" })).ok);
  await desk.post("conversation/c1", "session.ended", { reason: "stop" });

  assert.deepEqual((await desk.sent("tool.run")).map(({ payload }) => payload.callId), ["a"]);
  assert.deepEqual([await itemState(desk, b), await callState(desk, "b")], ["waiting", "waiting"]);
  const note = (await desk.row("SELECT note FROM pending_items WHERE id = ?", b ?? ""))?.note;
  assert.match(String(note), /was taken back, so it waits for a person again/);
});
