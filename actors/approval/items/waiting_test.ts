/** Proves how the gate treats what waits: two people, time that is over, reminders and quiet hours; against a real database. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import { decide, type Decided, type DecisionBody } from "../../../store/decide.ts";
import {
  type ApprovalDesk,
  callState,
  decided,
  furnished,
  gate,
  itemState,
} from "../../../tests/doubles/approval_desk.ts";

const DAY_MS = 86_400_000;
const ada = { viewer: { userId: "u1", role: "owner" as const, channels: new Map() }, name: "Ada" };
const bo = {
  viewer: { userId: "u2", role: "approver" as const, channels: new Map([[5, "approve" as const]]) },
  name: "Bo",
};

async function say(
  desk: ApprovalDesk,
  id: string | undefined,
  who: typeof ada | typeof bo,
  body: DecisionBody,
): Promise<Decided> {
  const version = desk.state.items.get(id ?? "")?.version ?? 1;
  const by = { ...who, surface: "web" as const };
  const result = await decide(desk.db, {
    itemId: id ?? "",
    version,
    body,
    by,
    now: desk.now,
    newId: desk.newId,
  });
  await desk.work();
  return result;
}

const noteTexts = async (desk: ApprovalDesk) =>
  (await desk.sent("topic.note")).map(({ payload }) => String(payload.text));

Deno.test("a tool that demands two people runs when a second one has allowed it, over a restart too", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command");

  await say(desk, id, bo, { decision: "allow_session" });
  await desk.restart();

  assert.equal(await itemState(desk, id), "waiting");
  assert.deepEqual(await desk.sent("tool.run"), []);
  assert.deepEqual(await desk.sent("call.decided"), [], "nothing is decided yet");
  const twice = await say(desk, id, bo, { decision: "allow_once" });
  assert.equal(twice.ok ? "" : twice.error.code, "forbidden", "nobody counts twice");
  const second = await say(desk, id, ada, { decision: "allow_session" });
  assert.ok(second.ok);
  assert.equal(await callState(desk, "a"), "decided");
  assert.equal((await desk.sent("tool.run")).length, 1);
  assert.equal((await desk.row("SELECT count(*) AS n FROM bypasses"))?.n, 0, "and nothing is widened");
  assert.ok(await desk.judge("b", "exec_command"));
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("neither a rule nor a bypass stands for the second person, and approval itself counts nobody twice", async () => {
  await using desk = await furnished();
  const before = await desk.judge("before", "mcp__mail__send");
  await decided(desk, before, { decision: "allow_session", scope: "all" });
  await gate(desk, { twoPersons: ["exec_command"] });
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const rule = { action: "allow", toolPattern: "exec_command" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "rule.create", rule } });

  const id = await desk.judge("a", "exec_command");
  await say(desk, id, ada, { decision: "allow_once" });
  const body = { decision: "allow_once" };
  await desk.post("edge", "approval.decide", { itemId: id, version: 3, body, by });

  assert.deepEqual((await desk.sent("tool.run")).map(({ payload }) => payload.callId), ["before"]);
  assert.equal(await itemState(desk, id), "failed");
  const edited = await desk.judge("b", "exec_command");
  const refused = await say(desk, edited, ada, { decision: "edit_and_allow", arguments: {} });
  assert.equal(refused.ok ? "" : refused.error.code, "bad_request", "two people allow one thing");
  assert.equal(await itemState(desk, edited), "waiting");
});

Deno.test("two people may allow it by reactions to one card, one of them twice in vain", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command");
  const shown = (version: number) =>
    desk.post("zulip", "card.shown", { itemId: id, version, messageId: 900, whole: true });
  const react = (zulipUserId: number) =>
    desk.post("zulip", "approval.react", { messageId: 900, zulipUserId, name: "Z", emoji: "+1" });

  await shown(1);
  await react(12);
  await react(11);
  assert.equal(await itemState(desk, id), "waiting", "the card does not stand for the new version yet");
  await shown(3);
  await react(12);
  assert.match((await noteTexts(desk)).join(), /a second person must, before it runs/);
  await react(11);

  assert.equal(await itemState(desk, id), "applied");
  assert.equal((await desk.sent("tool.run")).length, 1);
});

Deno.test("one rejection is enough, and a second person's too", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const a = await desk.judge("a", "exec_command");
  const b = await desk.judge("b", "exec_command");

  await say(desk, a, bo, { decision: "reject_once" });
  await say(desk, b, bo, { decision: "allow_once" });
  await say(desk, b, bo, { decision: "reject_once" });

  assert.deepEqual([await callState(desk, "a"), await callState(desk, "b")], ["rejected", "rejected"]);
});

Deno.test("what waits for a second person still runs out", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"], expirySeconds: 3_600 });
  const id = await desk.judge("a", "exec_command");
  await say(desk, id, bo, { decision: "allow_once" });

  desk.now += 3_600_000;
  await desk.work();

  assert.equal(await itemState(desk, id), "expired");
});

Deno.test("parked: what nobody decides goes on waiting, each time on record", async () => {
  await using desk = await furnished();
  await gate(desk, { onExpiry: "park" });
  const id = await desk.judge("a", "exec_command");

  for (let week = 0; week < 2; week++) {
    desk.now += 7 * DAY_MS;
    await desk.work();
  }
  await desk.restart();

  assert.equal(await itemState(desk, id), "waiting");
  assert.equal((await desk.row("SELECT count(*) AS n FROM decisions WHERE decision = 'parked'"))?.n, 2);
  assert.ok((await say(desk, id, ada, { decision: "allow_once" })).ok);
  assert.equal(await callState(desk, "a"), "decided");
});

Deno.test("a decision that was first holds, whatever the alarm does", async () => {
  await using desk = await furnished();
  await gate(desk, { onExpiry: "park" });
  const id = await desk.judge("a", "exec_command");
  desk.now += 7 * DAY_MS - 1;
  const by = { ...ada, surface: "web" as const };
  const body = { decision: "allow_once" as const };
  await decide(desk.db, { itemId: id ?? "", version: 1, body, by, now: desk.now, newId: desk.newId });

  desk.now += 1;
  await desk.work();

  assert.equal(await itemState(desk, id), "applied");
  assert.equal((await desk.sent("tool.run")).length, 1);
});

Deno.test("a question whose asker set its time ends then, whatever is parked", async () => {
  await using desk = await furnished();
  await gate(desk, { onExpiry: "park" });
  await desk.post("toolbox", "question.raise", {
    callId: "q",
    turnId: "t1",
    conversation: "c1",
    kind: "question",
    question: "?",
    expiresInSeconds: 60,
  });

  desk.now += 60_000;
  await desk.work();

  assert.equal((await desk.sent("question.answered"))[0]?.payload.outcome, "expired");
});

Deno.test("what waits is said again and again, but not at night", async () => {
  await using desk = await furnished();
  desk.now = Date.UTC(2026, 10, 30, 20, 30);
  await gate(desk, { remindSeconds: 3_600, quietHours: { from: 22, to: 7 } });
  const id = await desk.judge("a", "exec_command");
  const at = async (hour: number, minute = 30) => {
    desk.now = Date.UTC(2026, 10, 30, hour, minute);
    await desk.work();
    return (await noteTexts(desk)).length;
  };

  assert.equal(await at(21), 1);
  assert.equal(await at(22), 1, "the next one waits for the morning");
  assert.equal(await at(30, 59), 1);
  assert.equal(await at(31, 0), 2);
  await say(desk, id, ada, { decision: "reject_once" });
  assert.equal(await at(40), 2);
});

Deno.test("an allowed call of high risk can be taken back until its time, and only then begins", async () => {
  await using desk = await furnished();
  await gate(desk, { undoSeconds: 10 });
  const undo = async (itemId: string | undefined) => {
    const by = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
    await desk.post("edge", "approval.policy", { by, command: { kind: "item.undo", itemId } });
    return (await desk.sent("policy.done")).at(-1)?.payload.code;
  };
  const a = await desk.judge("a", "exec_command", { risk: "high" });
  const b = await desk.judge("b", "exec_command", { risk: "high" });
  const c = await desk.judge("c", "exec_command");
  for (const item of [a, b, c]) await say(desk, item, ada, { decision: "allow_once" });
  const stored = await desk.row("SELECT decision FROM pending_items WHERE id = ?", a ?? "");

  desk.now += 9_749;
  assert.equal(await undo(a), undefined);
  desk.now += 251;
  const late = [await undo(b), await undo(c), await undo(a)];

  assert.equal(JSON.parse(String(stored?.decision)).undoUntil, desk.now);
  assert.deepEqual(late, ["conflict", "not_found", "not_found"]);
  assert.deepEqual([await callState(desk, "a"), await itemState(desk, a)], ["rejected", "cancelled"]);
  assert.deepEqual([await callState(desk, "b"), await itemState(desk, b)], ["decided", "applied"]);
  const rows = await desk.db.query(
    sql("SELECT payload ->> 'callId', not_before FROM messages WHERE type = 'tool.run'"),
  );
  assert.deepEqual(rows.rows.map((row) => [...row]), [["a", desk.now], ["b", desk.now], ["c", null]]);
  assert.match(String((await desk.sent("tool.result"))[0]?.payload.text), /Bo took the permission back/);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a call that was stopped while it could be taken back is no longer taken back", async () => {
  await using desk = await furnished();
  await gate(desk, { undoSeconds: 10 });
  const id = await desk.judge("a", "exec_command", { risk: "high" });
  await say(desk, id, ada, { decision: "allow_once" });
  await desk.db.batch([sql("UPDATE tool_calls SET state = 'cancelled' WHERE id = 'a'")]);
  await desk.post("conversation/c1", "tool.cancel", { callId: "a", reason: "stopped" });

  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  await desk.post("edge", "approval.policy", { by, command: { kind: "item.undo", itemId: id } });

  assert.equal((await desk.sent("policy.done")).at(-1)?.payload.code, "not_found");
  assert.deepEqual([await callState(desk, "a"), await itemState(desk, id)], ["cancelled", "applied"]);
});

Deno.test("lifting a stop begins no call before the time in which it can be taken back, over a restart too", async () => {
  await using desk = await furnished();
  await gate(desk, { undoSeconds: 300 });
  const id = await desk.judge("a", "exec_command", { risk: "high" });
  await say(desk, id, ada, { decision: "allow_once" });
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const turn = (kind: string) => desk.post("edge", "approval.policy", { by, command: { kind } });

  await turn("effects.suspend");
  await desk.restart();
  await turn("effects.resume");

  const runs = await desk.db.query(sql("SELECT not_before FROM messages WHERE type = 'tool.run'"));
  assert.deepEqual(runs.rows.map(([notBefore]) => notBefore), [desk.now + 300_000]);
});

Deno.test("what is offered anew to a second person is reminded of anew", async () => {
  await using desk = await furnished();
  await gate(desk, { remindSeconds: 3_600, twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command");
  const anHourLater = async () => {
    desk.now += 3_600_000;
    await desk.work();
  };

  await anHourLater();
  await say(desk, id, bo, { decision: "allow_once" });
  await anHourLater();

  // The gateway posts a note once a key.
  const keys = (await desk.sent("topic.note")).map(({ payload }) => String(payload.key))
    .filter((key) => key.startsWith("remind/"));
  assert.equal(new Set(keys).size, 2);
});

Deno.test("when nobody else may be the second person, the topic says so", async () => {
  await using desk = await furnished();
  await gate(desk, { twoPersons: ["exec_command"] });
  const id = await desk.judge("a", "exec_command", { risk: "high" });
  const before = (await noteTexts(desk)).filter((text) => text.includes("nobody who may decide"));

  await say(desk, id, ada, { decision: "allow_once" });

  assert.deepEqual(before, []);
  assert.match((await noteTexts(desk)).join(), /nobody who may decide it is signed in/);
});

Deno.test("a parked conversation is one item until it is restarted, over a restart of approval too", async () => {
  await using desk = await furnished();
  const park = () => desk.post("supervisor", "restart.wanted", { conversation: "c1", reason: "5 crashes" });
  await park();
  await desk.restart();
  await park();
  const item = await desk.row("SELECT id, kind, state, question FROM pending_items");

  const decision = await say(desk, String(item?.id), ada, { decision: "allow_once" });
  await desk.post("supervisor", "restart.done", { conversation: "c1" });
  await desk.post("supervisor", "restart.done", { conversation: "c1" });

  assert.match(String(item?.question), /5 crashes/);
  assert.equal(decision.ok, false, "it is settled by restarting");
  const rows = await desk.db.query(sql("SELECT kind, state FROM pending_items"));
  assert.deepEqual(rows.rows.map((row) => [...row]), [["restart", "applied"]]);
});
