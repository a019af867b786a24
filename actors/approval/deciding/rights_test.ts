/** Proves that approval knows rights itself and is never laxer than the edge, whatever came through; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { decide } from "../../../store/decide.ts";
import { callState, decided, furnished, gate, itemState } from "../../../tests/doubles/approval_desk.ts";

Deno.test("a right that was taken away meanwhile no longer decides, whatever the edge knew", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  const bo = { userId: "u2", role: "approver" as const, channels: new Map([[5, "approve" as const]]) };
  const by = { viewer: bo, name: "Bo", surface: "web" as const };
  const body = { decision: "allow_once" as const };
  await desk.post("edge", "people.known", {
    users: [{ id: "u2", name: "Bo", role: "approver", zulipUserId: 12, channels: [9] }],
  });

  const taken = await decide(desk.db, {
    itemId: id ?? "",
    version: 1,
    body,
    by,
    now: desk.now,
    newId: desk.newId,
  });
  await desk.work();

  assert.ok(taken.ok);
  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed");
});

Deno.test("somebody with an account here has its rights in Zulip too, whoever else may react", async () => {
  await using desk = await furnished();
  await desk.db.batch([sql(`INSERT INTO settings (key, value, at) VALUES ('zulip_approvers', '"*"', 1)`)]);
  await desk.restart();
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });

  await desk.post("zulip", "approval.react", { messageId: 900, zulipUserId: 13, name: "Cy", emoji: "+1" });

  assert.equal(await itemState(desk, id), "waiting", "a viewer stays one");
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

Deno.test("approval lets through nobody whom the edge would not: no wide session, no chat of the owner's, nobody who is gone", async () => {
  await using desk = await furnished();
  const bo = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
  const refusals = async (
    itemId: string | undefined,
    by: object,
    body: object,
    from: "edge" | "approval" = "edge",
  ) => {
    await desk.post(from, "approval.decide", { itemId, version: 1, body, by });
    return (await desk.row("SELECT note FROM pending_items WHERE id = ?", itemId ?? ""))?.note;
  };
  const once = { decision: "allow_once" };
  const wide = { decision: "allow_session", scope: "all" };

  const a = await desk.judge("a", "exec_command");
  assert.equal(await refusals(a, bo, wide), "only the owner may allow more than this tool");
  const b = await desk.judge("b", "exec_command");
  const reacting = { ...bo, surface: "zulip", zulipUserId: 12 };
  assert.match(String(await refusals(b, reacting, wide, "approval")), /^only the owner/);
  await desk.db.batch([sql("UPDATE conversations SET source = 'web', channel_id = NULL")]);
  await desk.restart();
  const c = await desk.judge("c", "exec_command");
  assert.equal(await refusals(c, bo, once), "the decider may no longer decide here");
  const d = await desk.judge("d", "exec_command");
  await desk.post("edge", "people.known", { users: [] });
  const ada = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  assert.equal(await refusals(d, ada, once), "the decider may no longer decide here");

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(desk.state.bypasses.length, 0);
});

Deno.test("taking back and ending a bypass need the right to act in that channel", async () => {
  await using desk = await furnished();
  await gate(desk, { undoSeconds: 10 });
  const id = await desk.judge("a", "exec_command", { risk: "high" });
  await decided(desk, id, { decision: "allow_session" });
  const say = async (command: object) => {
    const by = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
    await desk.post("edge", "approval.policy", { by, command });
    return (await desk.sent("policy.done")).at(-1)?.payload.code ?? "ok";
  };
  const both = () => [
    { kind: "item.undo", itemId: id },
    { kind: "bypass.revoke", id: desk.state.bypasses[0]?.id },
  ];
  const bo = { id: "u2", name: "Bo", role: "approver", zulipUserId: 12 };

  await desk.post("edge", "people.known", { users: [{ ...bo, channels: [9] }] });
  for (const command of both()) assert.equal(await say(command), "forbidden");
  await desk.post("edge", "people.known", { users: [{ ...bo, channels: [5] }] });
  for (const command of both()) assert.equal(await say(command), "ok");
});

Deno.test("whoever asked for a call may not allow it by a reaction or at the edge when the settings say so; another one may", async () => {
  await using desk = await furnished();
  await gate(desk, { requesterMayApprove: false });
  const requestedBy = [{ kind: "web", id: "u2" }, { kind: "zulip", id: "11" }];
  const propose = async (callId: string) => {
    await desk.db.batch([sql(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
       VALUES (?, 'c1', 't1', ?, 'exec_command', '{}', 'described', ?, 1, 1)`,
      callId,
      callId,
      `digest-${callId}`,
    )]);
    await desk.post("toolbox", "tool.judge", { ...desk.judgePayload(callId, "exec_command"), requestedBy });
  };
  await propose("a");
  await desk.restart();
  const [item] = desk.state.items.values();
  await desk.post("zulip", "card.shown", { itemId: item?.id, version: 1, messageId: 900, whole: true });
  const react = (zulipUserId: number, emoji: string) =>
    desk.post("zulip", "approval.react", { messageId: 900, zulipUserId, name: "Z", emoji });

  await react(12, "+1");
  await react(11, "+1");

  assert.equal(await itemState(desk, item?.id), "waiting");
  const notes = (await desk.sent("topic.note")).map(({ payload }) => String(payload.text));
  assert.equal(notes.filter((note) => note.startsWith("You asked for this")).length, 2);
  await react(11, "-1");
  assert.equal(await callState(desk, "a"), "rejected", "refusing is anybody's right");
  await propose("b");
  const b = [...desk.state.items.values()].find(({ callId }) => callId === "b")?.id;
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  await desk.post("edge", "approval.decide", { itemId: b, version: 1, body: { decision: "allow_once" }, by });
  assert.equal(await callState(desk, "b"), "rejected", "approval refuses what the edge should have");
});

Deno.test("where two people must allow, a Zulip account that is linked to nobody is neither of them", async () => {
  await using desk = await furnished();
  await desk.db.batch([sql(`INSERT INTO settings (key, value, at) VALUES ('zulip_approvers', '"*"', 1)`)]);
  await desk.restart();
  await gate(desk, { twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command");
  const react = async (version: number) => {
    await desk.post("zulip", "card.shown", { itemId: id, version, messageId: 900, whole: true });
    await desk.post("zulip", "approval.react", { messageId: 900, zulipUserId: 77, name: "Ada", emoji: "+1" });
  };
  const ada = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const allow = (from: "edge" | "approval", version: number, by: object) =>
    desk.post(from, "approval.decide", { itemId: id, version, body: { decision: "allow_once" }, by });

  await react(1);
  assert.equal(desk.state.items.get(id ?? "")?.firstApproval, undefined, "not the first");
  await decided(desk, id, { decision: "allow_once" });
  await react(3);
  assert.equal(await itemState(desk, id), "waiting", "nor the second");
  const notes = (await desk.sent("topic.note")).map(({ payload }) => String(payload.text));
  assert.equal(notes.filter((note) => note.includes("Settings → People")).length, 2);
  await allow("approval", 3, { zulipUserId: 77, name: "Ada", surface: "zulip", role: "approver" });

  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.equal(await itemState(desk, id), "failed", "approval itself looks again when it applies");
  const b = await desk.judge("b", "exec_command");
  await desk.post("edge", "approval.decide", {
    itemId: b,
    version: 1,
    body: { decision: "allow_once" },
    by: ada,
  });
  const unlinked = { userId: "u2", zulipUserId: 77, name: "Bo", surface: "zulip", role: "approver" };
  await desk.post("approval", "approval.decide", {
    itemId: b,
    version: 3,
    body: { decision: "allow_once" },
    by: unlinked,
  });
  assert.deepEqual(await desk.sent("tool.run"), [], "an account that was unlinked meanwhile is nobody's");
});

Deno.test("the first of two people counts while they are known and may decide here; after that two others must", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command");
  const allow = async (by: object) => {
    const version = desk.state.items.get(id ?? "")?.version;
    await desk.post("edge", "approval.decide", { itemId: id, version, body: { decision: "allow_once" }, by });
  };
  const ada = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const bo = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
  const users = [...desk.state.users];

  await allow(bo);
  await desk.post("edge", "people.known", { users: users.filter((user) => user.id !== "u2") });
  await allow(ada);

  assert.deepEqual(await desk.sent("tool.run"), [], "Bo is gone, so Ada is the first");
  assert.equal(desk.state.items.get(id ?? "")?.firstApproval?.identity, "u1");
  await desk.post("edge", "people.known", { users });
  await allow(bo);
  assert.equal((await desk.sent("tool.run")).length, 1);
});

Deno.test("from Zulip nothing of policy changes but the stop-everything switch, whoever says it", async () => {
  await using desk = await furnished();
  const by = { zulipUserId: 11, name: "Ada", surface: "zulip" };
  const say = (command: Record<string, unknown>) => desk.post("zulip", "approval.policy", { by, command });

  await say({ kind: "rule.create", rule: { action: "allow", toolPattern: "*" } });
  await say({ kind: "effects.suspend" });

  assert.equal((await desk.row("SELECT count(*) AS n FROM rules WHERE created_by = 'u1'"))?.n, 0);
  assert.ok(desk.state.suspended);
});
