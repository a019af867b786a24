/** Proves what an edited call may do, what becomes of an edit that leads nowhere, and what is told of it; against a real database. */
import assert from "node:assert/strict";
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
import { changesBetween } from "./changes.ts";

const edit = { decision: "edit_and_allow" as const, arguments: { command: "ls" } };

/** The toolbox describes the edited arguments. */
function describe(
  desk: ApprovalDesk,
  callId: string,
  itemId: string | undefined,
  { tool = "exec_command", ...described }: Record<string, unknown> & { readonly tool?: string } = {},
): Promise<void> {
  const payload = desk.judgePayload(callId, tool, described);
  return desk.post("toolbox", "tool.judge", {
    ...payload,
    arguments: '{"command":"ls"}',
    digest: `edited-${callId}`,
    editedFor: itemId,
  });
}

const noteOf = async (desk: ApprovalDesk, id: string | undefined) =>
  String((await desk.row("SELECT note FROM pending_items WHERE id = ?", id ?? ""))?.note);

Deno.test("an edit makes no call that two people must allow, by its own class and the settings of the moment", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["@fs_write"] });
  // Described as a read, since what it was to change is not there.
  const a = await desk.judge("a", "write_file", { class: "read" });
  const b = await desk.judge("b", "exec_command");
  for (const id of [a, b]) await decided(desk, id, edit);

  await describe(desk, "a", a, { tool: "write_file", class: "write" });
  await gate(desk, { twoPersons: ["exec_command"] });
  await describe(desk, "b", b);

  assert.deepEqual(await desk.sent("tool.run"), []);
  for (const id of [a, b]) {
    assert.equal(await itemState(desk, id), "waiting");
    assert.match(await noteOf(desk, id), /^Two people must allow this call/);
  }
});

Deno.test("an edited call of high risk can be taken back until its time, too", async () => {
  await using desk = await furnished();
  await gate(desk, { undoSeconds: 10 });
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, edit);
  await describe(desk, "a", id, { risk: "high" });
  const until = desk.now + 10_000;
  const stored = await desk.row("SELECT decision FROM pending_items WHERE id = ?", id ?? "");
  const run = await desk.row("SELECT not_before FROM messages WHERE type = 'tool.run'");
  assert.deepEqual([JSON.parse(String(stored?.decision)).undoUntil, run?.not_before], [until, until]);

  desk.now += 9_000;
  await desk.restart();
  const by = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "item.undo", itemId: id } });

  assert.deepEqual([await callState(desk, "a"), await itemState(desk, id)], ["rejected", "cancelled"]);
});

Deno.test("an edit that cannot be described or delivered uses up no approval: the item waits again and says why", async () => {
  await using desk = await furnished();
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");
  for (const id of [a, b]) await decided(desk, id, edit);
  await desk.restart();

  await desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: a, message: "command is missing" });
  await desk.post("supervisor", "request.failed", {
    request: "r",
    type: "tool.redescribe",
    code: "poison",
    message: "it crashed",
    callId: "b",
    itemId: b,
  });
  await desk.restart();

  assert.match(await noteOf(desk, a), /^Ada edited the arguments.*command is missing$/);
  assert.match(await noteOf(desk, b), /it crashed$/);
  assert.deepEqual([await itemState(desk, a), await callState(desk, "a")], ["waiting", "waiting"]);
  assert.deepEqual(await desk.sent("tool.result"), []);
  assert.deepEqual(await desk.sent("call.decided"), [], "nothing is decided yet");
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const body = { decision: "allow_once" };
  for (const version of [1, 3]) {
    await desk.post("edge", "approval.decide", { itemId: a, version, body, by });
    assert.equal((await desk.sent("tool.run")).length, version === 1 ? 0 : 1, "only what is shown now");
  }
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("what waits again after an edit still runs out at its time", async () => {
  await using desk = await furnished();
  await gate(desk, { expirySeconds: 60 });
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, edit);

  desk.now += 60_000;
  await desk.work();
  assert.equal(await itemState(desk, id), "decided", "an edit on its way is waited for");
  await desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: id, message: "no" });

  assert.equal(await itemState(desk, id), "expired");
});

Deno.test("the conversation is told what was changed in an edited call and by whom", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, edit);

  await describe(desk, "a", id);

  assert.deepEqual((await desk.sent("call.decided")).map(({ payload }) => payload), [{
    callId: "a",
    itemId: id,
    decision: "edit_and_allow",
    by: "Ada",
    changes: [{ name: "command", after: '"ls"' }],
  }]);
});

Deno.test("changes are told by name, sorted, with what was there before and after, and cut", () => {
  const before = '{"same":{"b":1,"a":2},"gone":null,"path":"/a","long":1}';
  const after = { same: { a: 2, b: 1 }, path: "/b", long: "x".repeat(400) };

  const changes = changesBetween(before, after);

  assert.deepEqual(changes.map(({ name }) => name), ["gone", "long", "path"]);
  assert.deepEqual(changes[0], { name: "gone", before: "null" });
  assert.equal(changes[1]?.after?.length, 301);
  assert.deepEqual(changes[2], { name: "path", before: '"/a"', after: '"/b"' });
  assert.deepEqual(changesBetween("no JSON", { a: 1 }), [{ name: "a", after: "1" }]);
});

Deno.test("a second edit is taken up after a restart as the first one was", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, edit);
  await desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: id, message: "no" });

  const again = await put(desk, id, edit, 3);
  await desk.restart();
  await desk.work();
  await desk.restart();
  await describe(desk, "a", id);

  assert.ok(again.ok);
  assert.equal((await desk.sent("tool.redescribe")).length, 2);
  assert.deepEqual([await itemState(desk, id), await callState(desk, "a")], ["applied", "decided"]);
});

Deno.test("the card of an edit on its way is not shown as one that waits", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });
  await decided(desk, id, edit);

  await desk.post("zulip", "card.gone", { messageId: 900 });

  assert.equal((await desk.sent("card.show")).at(-1)?.payload.state, "decided");
});
