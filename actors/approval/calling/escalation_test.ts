/** Proves whom the gate calls when nobody decides, and when: against a real database, with hand-driven time. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { decide } from "../../../store/decide.ts";
import { verifyChain } from "../../../store/queries/chain.ts";
import { getItem } from "../../../store/queries/items.ts";
import {
  type ApprovalDesk,
  decided,
  furnished,
  itemState,
  owner,
} from "../../../tests/doubles/approval_desk.ts";
import { GateSettings } from "../../protocol/approval.ts";

const HOUR_MS = 3_600_000;
const ada = { userId: "u1", name: "Ada", surface: "web", role: "owner" } as const;

async function settings(desk: ApprovalDesk, change: Partial<GateSettings>) {
  const command = {
    kind: "gate.settings",
    settings: GateSettings.parse({ onExpiry: "escalate", expirySeconds: 3_600, ...change }),
  };
  await desk.post("edge", "approval.policy", { by: ada, command });
  return (await desk.sent("policy.done")).at(-1)?.payload;
}

async function later(desk: ApprovalDesk, ms: number): Promise<void> {
  desk.now += ms;
  await desk.work();
}

const seen = (desk: ApprovalDesk, id: string | undefined) => getItem(desk.db, id ?? "", owner);
const texts = async (desk: ApprovalDesk, type: "topic.note" | "person.note") =>
  (await desk.sent(type)).map(({ payload }) => String(payload.text));
const decisions = async (desk: ApprovalDesk) =>
  (await desk.db.query(sql("SELECT decision FROM decisions WHERE item_id IS NOT NULL ORDER BY seq"))).rows
    .map(([decision]) => decision);

/** Conversation c1 as if it had begun in the web. */
async function inTheWeb(desk: ApprovalDesk): Promise<void> {
  await desk.db.batch([sql("UPDATE conversations SET source = 'web', channel_id = NULL")]);
  await desk.restart();
}

Deno.test("escalated: each of the chain is called in turn and named on the card, then the item ends", async () => {
  await using desk = await furnished();
  await settings(desk, { escalateTo: ["u2", "u1"] });
  const id = await desk.judge("a", "exec_command");

  await later(desk, HOUR_MS);
  const first = await seen(desk, id);
  await desk.restart();
  await later(desk, HOUR_MS);
  const second = await seen(desk, id);
  await later(desk, HOUR_MS);

  assert.deepEqual([first?.state, first?.delegatedTo?.name, first?.escalated?.round], ["waiting", "Bo", 1]);
  assert.deepEqual([second?.state, second?.delegatedTo?.name, second?.escalated?.round], [
    "waiting",
    "Ada",
    2,
  ]);
  assert.equal(second?.escalated?.at, desk.now - HOUR_MS);
  assert.equal(await itemState(desk, id), "expired");
  const notes = await texts(desk, "topic.note");
  assert.match(notes[0] ?? "", /now for @\*\*\|12\*\*/);
  assert.match(notes[1] ?? "", /now for @\*\*\|11\*\*/);
  assert.deepEqual(await texts(desk, "person.note"), [], "they are mentioned where it stands");
  assert.deepEqual(await decisions(desk), ["escalated", "escalated", "expired"]);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("an escalation is announced to everybody who looks at the inbox", async () => {
  await using desk = await furnished();
  await settings(desk, {});
  const id = await desk.judge("a", "exec_command");
  const feed = async () => (await desk.row("SELECT count(*) AS n FROM feed WHERE ref = ?", id ?? ""))?.n;
  const before = Number(await feed());

  await later(desk, HOUR_MS);

  assert.equal(await feed(), before + 1);
});

Deno.test("without a chain the owner is called, in a message of their own where no channel tells them", async () => {
  await using desk = await furnished();
  await inTheWeb(desk);
  await settings(desk, { escalateTo: [] });
  const id = await desk.judge("a", "exec_command");

  await later(desk, HOUR_MS);

  assert.equal((await seen(desk, id))?.delegatedTo?.id, "u1");
  const [note] = await desk.sent("person.note");
  assert.deepEqual([note?.payload.zulipUserId, note?.payload.itemId], [11, id]);
  assert.match(String(note?.payload.text), /now for you/);
});

Deno.test("who has allowed it already, or asked for it, is passed over", async () => {
  await using desk = await furnished();
  await settings(desk, {
    escalateTo: ["u2", "u1"],
    twoPersons: ["exec_command"],
    requesterMayApprove: false,
  });
  const first = await desk.judge("a", "exec_command");
  const bo = { userId: "u2", role: "approver" as const, channels: new Map([[5, "approve" as const]]) };
  await decide(desk.db, {
    itemId: first ?? "",
    version: 1,
    body: { decision: "allow_once" },
    by: { viewer: bo, name: "Bo", surface: "web" },
    now: desk.now,
    newId: desk.newId,
  });
  await desk.db.batch([sql(
    `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, state, digest, created_at, updated_at)
     VALUES ('b', 'c1', 't1', 'b', 'mcp__mail__send', '{}', 'described', 'digest-b', 1, 1)`,
  )]);
  const requestedBy = [{ kind: "zulip", id: "12" }];
  await desk.post("toolbox", "tool.judge", { ...desk.judgePayload("b", "mcp__mail__send"), requestedBy });
  const second = [...desk.state.items.values()].find((item) => item.callId === "b")?.id;

  await later(desk, HOUR_MS);

  assert.equal((await seen(desk, first))?.delegatedTo?.name, "Ada");
  assert.equal((await seen(desk, second))?.delegatedTo?.name, "Ada");
});

Deno.test("what waits again after its first escalation is escalated with a word again", async () => {
  await using desk = await furnished();
  await settings(desk, {});
  const id = await desk.judge("a", "exec_command");
  await later(desk, HOUR_MS);
  await decided(desk, id, { decision: "edit_and_allow", arguments: {} });
  await desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: id, message: "no" });

  await later(desk, HOUR_MS);

  // The gateway posts a note once a key.
  const keys = (await desk.sent("topic.note")).map(({ payload }) => String(payload.key))
    .filter((key) => key.startsWith("escalate/"));
  assert.equal(new Set(keys).size, 2);
});

Deno.test("who may not decide here is passed over", async () => {
  await using desk = await furnished();
  await inTheWeb(desk);
  await settings(desk, { escalateTo: ["u2"], lastResort: "park" });
  const id = await desk.judge("a", "exec_command");

  await later(desk, HOUR_MS);

  assert.deepEqual([(await seen(desk, id))?.delegatedTo, await itemState(desk, id)], [undefined, "waiting"]);
  assert.deepEqual(await decisions(desk), ["parked"]);
});

Deno.test("the last resort can be to keep it waiting", async () => {
  await using desk = await furnished();
  await settings(desk, { lastResort: "park" });
  const id = await desk.judge("a", "exec_command");

  for (let round = 0; round < 3; round++) await later(desk, HOUR_MS);

  assert.equal(await itemState(desk, id), "waiting");
  assert.deepEqual(await decisions(desk), ["escalated", "parked", "parked"]);
});

Deno.test("a decision that was first is not escalated", async () => {
  await using desk = await furnished();
  await settings(desk, {});
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, { decision: "reject_once" });

  await later(desk, HOUR_MS);

  assert.equal((await seen(desk, id))?.escalated, undefined);
  assert.deepEqual(await texts(desk, "topic.note"), []);
});

Deno.test("nobody is called in the quiet hours of the owner's zone, on the night the clocks change", async () => {
  await using desk = await furnished();
  desk.now = Date.parse("2026-10-24T20:30:00Z"); // 22:30 in Berlin; the clocks go back at 01:00Z.
  await settings(desk, { quietHours: { from: 22, to: 7 }, timeZone: "Europe/Berlin" });
  const id = await desk.judge("a", "exec_command");

  await later(desk, HOUR_MS);
  const atNight = await seen(desk, id);
  await later(desk, Date.parse("2026-10-25T05:59:59Z") - desk.now);
  assert.deepEqual(await texts(desk, "topic.note"), []);
  await later(desk, 1_000);
  const morning = await seen(desk, id);

  assert.deepEqual([atNight?.state, atNight?.escalated], ["waiting", undefined]);
  assert.equal(atNight?.expiresAt, Date.parse("2026-10-25T06:00:00Z"));
  assert.equal(morning?.escalated?.at, Date.parse("2026-10-25T06:00:00Z"));
  assert.deepEqual(await decisions(desk), ["escalated"]);
});

Deno.test("an item ends in the quiet hours as at any other time", async () => {
  await using desk = await furnished();
  desk.now = Date.parse("2026-10-24T21:00:00Z");
  const quiet = { quietHours: { from: 22, to: 7 }, timeZone: "Europe/Berlin" };
  await settings(desk, { ...quiet, onExpiry: "reject" });
  const rejected = await desk.judge("a", "exec_command");
  await later(desk, HOUR_MS);

  desk.now = Date.parse("2026-10-25T19:30:00Z");
  await settings(desk, quiet);
  const escalated = await desk.judge("b", "exec_command");
  await later(desk, HOUR_MS);
  await later(desk, HOUR_MS);

  assert.equal(await itemState(desk, rejected), "expired");
  assert.equal(await itemState(desk, escalated), "expired", "it was called for at 21:30 and ends at 22:30");
});

Deno.test("settings that call nobody, or name no time zone, are refused", async () => {
  await using desk = await furnished();

  assert.match(String((await settings(desk, { escalateTo: ["u3"] }))?.message), /"u3" is nobody/);
  assert.match(String((await settings(desk, { timeZone: "Mars/Base" }))?.message), /no time zone/);
});

Deno.test("who is asked to decide is told, and the log says by whom", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  const mark = (marked: Record<string, unknown>, by: Record<string, unknown> = ada) =>
    desk.post("edge", "item.marked", { itemId: id, marked, by });

  await mark({ mark: "delegated", userId: "u2" });
  await mark({ mark: "delegated", userId: null });
  await mark({ mark: "later", until: desk.now + 1 }, { ...ada, userId: "u2", name: "Bo", role: "approver" });
  await mark({ mark: "delegated", userId: "u1" }, { ...ada, userId: "u3", name: "Cy", role: "viewer" });
  await mark({ mark: "delegated", userId: "u1" });

  const notes = await texts(desk, "topic.note");
  assert.equal(notes.length, 1, "nobody is told that they asked themselves");
  assert.match(notes[0] ?? "", /Ada asks @\*\*\|12\*\* to decide about a call/);
  assert.deepEqual(await decisions(desk), ["delegated", "delegation_ended", "later", "delegated"]);
  assert.equal((await verifyChain(desk.db)).ok, true);
});

Deno.test("a name makes no mention of its own", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");

  const by = { ...ada, name: "@**all** [x](http://e)" };
  await desk.post("edge", "item.marked", { itemId: id, by, marked: { mark: "delegated", userId: "u2" } });

  assert.doesNotMatch((await texts(desk, "topic.note"))[0] ?? "", /@\*\*all|\[x\]/);
});

Deno.test("calls of a tool wait as is set for that tool, by the first pattern that covers it", async () => {
  await using desk = await furnished();
  const change: Partial<GateSettings> = {
    onExpiry: "reject",
    expiryByTool: [
      { toolPattern: "mcp__mail__*", expirySeconds: 60, onExpiry: "reject" },
      { toolPattern: "@fs_write", expirySeconds: 120, onExpiry: "park" },
      { toolPattern: "*", expirySeconds: 600, onExpiry: "reject" },
    ],
  };
  assert.equal((await settings(desk, change))?.ok, true);
  const mail = await desk.judge("a", "mcp__mail__send");
  const write = await desk.judge("b", "write_file", {
    paths: [{ path: "/a", access: "write", exists: false }],
  });
  const command = await desk.judge("c", "exec_command");
  const states = () => Promise.all([mail, write, command].map((id) => itemState(desk, id)));

  await desk.restart();
  await later(desk, 60_000);
  assert.deepEqual(await states(), ["expired", "waiting", "waiting"]);
  await later(desk, 240_000);
  assert.deepEqual(await states(), ["expired", "waiting", "waiting"], "it is parked for as long again");
  await later(desk, 300_000);
  assert.deepEqual(await states(), ["expired", "waiting", "expired"]);
  const unsound = [{ toolPattern: "*_x", expirySeconds: 60, onExpiry: "park" } as const];
  assert.equal((await settings(desk, { expiryByTool: unsound }))?.ok, false);
});
