/** Proves the scheduler: upsert, firing once, missed runs, limits, and cron around both changes of the clocks. */
import assert from "node:assert/strict";
import type { Envelope, Send } from "../../runtime/actor.ts";
import { sql } from "../../store/db.ts";
import { loadScheduler } from "../../store/loads/scheduler.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { opStatements } from "../../store/ops.ts";
import { checkSend } from "../protocol.ts";
import { cronProblem, nextCron } from "./cron.ts";
import { MAX_PER_CONVERSATION, scheduler, type SchedulerState } from "./scheduler.ts";
import { timingProblem, whenDue } from "./when.ts";

const START = Date.UTC(2026, 0, 10, 12);
const empty: SchedulerState = { schedules: [] };

let ids = 0;

/** Runs one message; every message that comes out is one that the protocol lets the scheduler send. */
function handle(state: SchedulerState, type: string, payload: unknown, now = START) {
  const message: Envelope = {
    id: "m",
    v: 1,
    to: "scheduler",
    from: type === "schedule.tick" ? "scheduler" : "toolbox",
    type,
    payload,
    lane: "normal",
    durable: true,
    at: now,
  };
  const decision = scheduler.decide(state, message, { now, newId: () => `s${++ids}` });
  for (const send of decision.send ?? []) assert.equal(checkSend("scheduler", send).ok, true, send.type);
  const of = (wanted: string) => (decision.send ?? []).filter((send) => send.type === wanted);
  return {
    ...decision,
    fired: of("conversation.message"),
    alarms: of("schedule.tick"),
    said: of("schedule.answer")[0],
  };
}

function putting(spec: unknown, more: Record<string, unknown> = {}) {
  return {
    requestId: "r",
    conversation: "c1",
    key: "k",
    spec,
    prompt: "Look around",
    timeZone: "UTC",
    createdBy: "u1",
    ...more,
  };
}

const every = (everyMs: number) => ({ kind: "every", everyMs });
// Payloads are looked into field by field.
const payload = (send: Send | undefined) => send?.payload as Record<string, unknown>;

Deno.test("a schedule that is put is answered, stored and has its alarm set", () => {
  const put = handle(empty, "schedule.put", putting(every(120_000), { conversation: "conversation/c1" }));

  assert.equal(payload(put.said).ok, true);
  assert.deepEqual(put.ops?.map((op) => op.op), ["schedule.put"]);
  assert.deepEqual(put.alarms, [
    { to: "scheduler", type: "schedule.tick", payload: {}, notBefore: START + 120_000, replaces: "tick" },
  ]);
  assert.equal(put.state.schedules[0]?.conversation, "c1");
});

Deno.test("a due schedule sends its prompt once, with the run and the next alarm in the same decision", () => {
  const { state } = handle(empty, "schedule.put", putting(every(60_000)));

  const early = handle(state, "schedule.tick", {}, START + 59_999);
  const due = handle(state, "schedule.tick", {}, START + 60_000);

  assert.equal(early.fired.length, 0);
  const [message] = due.fired;
  assert.equal(message?.to, "conversation/c1");
  assert.equal(message?.dedupe, `schedule/${state.schedules[0]?.id}/${START + 60_000}`);
  assert.equal(payload(message).text, "Look around");
  assert.deepEqual(due.ops?.map((op) => op.op), ["schedule.ran"]);
  assert.equal(due.alarms[0]?.notBefore, START + 120_000);
  assert.equal(
    handle(due.state, "schedule.tick", {}, START + 60_000).fired.length,
    0,
    "a second tick finds nothing due",
  );
});

Deno.test("the next run counts from the planned time, not from when it was handled", () => {
  const { state } = handle(empty, "schedule.put", putting(every(60_000)));

  const late = handle(state, "schedule.tick", {}, START + 75_000);

  assert.equal(late.state.schedules[0]?.nextAt, START + 120_000);
});

Deno.test("runs that were missed become one, which says so", () => {
  const { state } = handle(empty, "schedule.put", putting(every(60_000)));

  const late = handle(state, "schedule.tick", {}, START + 5 * 60_000 + 1);

  assert.equal(late.fired.length, 1);
  assert.match(String(payload(late.fired[0]).text), /4 later runs were missed/);
  assert.deepEqual(late.ops?.[0], {
    op: "schedule.ran",
    id: state.schedules[0]?.id,
    plannedAt: START + 60_000,
    missed: 4,
    nextAt: START + 6 * 60_000,
  });
  const years = whenDue(
    { spec: { kind: "every", everyMs: 60_000 }, timeZone: "UTC" },
    START,
    START + 365 * 86_400_000,
  );
  assert.deepEqual(years, { missed: 1000, nextAt: START + 365 * 86_400_000 + 60_000 });
});

Deno.test("a schedule that runs once is gone after its run", () => {
  const { state } = handle(empty, "schedule.put", putting({ kind: "once", at: START + 5 }));

  const run = handle(state, "schedule.tick", {}, START + 5);

  assert.equal(run.fired.length, 1);
  assert.deepEqual([run.state.schedules, run.alarms], [[], []]);
});

Deno.test("putting the same key again changes the schedule and keeps its id", () => {
  const first = handle(empty, "schedule.put", putting(every(60_000)));

  const second = handle(
    first.state,
    "schedule.put",
    putting(every(3_600_000), { prompt: "New" }),
    START + 1000,
  );
  const other = handle(
    second.state,
    "schedule.put",
    putting(every(60_000), { conversation: "c2" }),
    START + 1000,
  );

  assert.equal(second.state.schedules.length, 1);
  assert.equal(second.state.schedules[0]?.id, first.state.schedules[0]?.id);
  assert.equal(second.state.schedules[0]?.nextAt, START + 1000 + 3_600_000);
  assert.equal(other.state.schedules.length, 2);
});

Deno.test("a conversation lists and cancels its own schedules only", () => {
  const { state } = handle(empty, "schedule.put", putting(every(60_000)));

  const foreign = handle(state, "schedule.cancel", { requestId: "r", conversation: "c2", key: "k" });
  const listed = handle(state, "schedule.list", { requestId: "r", conversation: "c1" });
  const cancelled = handle(state, "schedule.cancel", { requestId: "r", conversation: "c1", key: "k" });

  assert.equal(payload(foreign.said).ok, false);
  assert.deepEqual(payload(listed.said).schedules, [
    { key: "k", spec: every(60_000), prompt: "Look around", timeZone: "UTC", nextAt: START + 60_000 },
  ]);
  assert.deepEqual(cancelled.state.schedules, []);
  assert.deepEqual(cancelled.ops?.map((op) => op.op), ["schedule.remove"]);
});

Deno.test("limits are refused with a reason", () => {
  const full = Array.from({ length: MAX_PER_CONVERSATION }).reduce<SchedulerState>(
    (state, _, index) => handle(state, "schedule.put", putting(every(60_000), { key: `k${index}` })).state,
    empty,
  );
  const refused = (state: SchedulerState, spec: unknown, more: Record<string, unknown> = {}) => {
    const put = handle(state, "schedule.put", putting(spec, more));
    assert.deepEqual(put.ops, []);
    return String(payload(put.said).message);
  };

  assert.match(refused(full, every(60_000)), /at most 50/);
  assert.equal(
    handle(full, "schedule.put", putting(every(90_000), { key: "k0" })).state.schedules.length,
    50,
  );
  assert.match(refused(empty, { kind: "once", at: START }), /past/);
  assert.match(refused(empty, { kind: "cron", expression: "* * * * * *" }), /once a minute/);
  assert.match(refused(empty, { kind: "cron", expression: "0,30 * * * * *" }), /once a minute/);
  assert.match(refused(empty, { kind: "cron", expression: "every day" }), /no cron expression/);
  assert.match(refused(empty, { kind: "cron", expression: "0 0 30 2 *" }), /never run/);
  assert.match(
    refused(empty, { kind: "cron", expression: "0 9 * * *" }, { timeZone: "Mars/Base" }),
    /no time zone/,
  );
  assert.equal(
    timingProblem({ spec: { kind: "every", everyMs: 59_999 }, timeZone: "UTC" }, START),
    "a schedule runs at most once a minute",
  );
});

function runs(expression: string, timeZone: string, from: string, count: number): string[] {
  const times: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (times.length < count && (at = nextCron({ expression, timeZone }, at)) !== undefined) {
    times.push(new Date(at).toISOString());
  }
  return times;
}

Deno.test("cron follows the clock of its time zone", () => {
  assert.deepEqual(runs("0 9 * * 1-5", "Europe/Berlin", "2026-07-03T12:00:00Z", 2), [
    "2026-07-06T07:00:00.000Z",
    "2026-07-07T07:00:00.000Z",
  ]);
  assert.deepEqual(runs("30 0 9 * * *", "America/New_York", "2026-01-10T12:00:00Z", 1), [
    "2026-01-10T14:00:30.000Z",
  ]);
  assert.ok(cronProblem({ expression: "@daily", timeZone: "UTC" }));
});

Deno.test("in spring a fixed time that does not exist runs when the clock has jumped, and a wildcard skips the hour", () => {
  // Berlin, 29 March 2026: 02:00 becomes 03:00, which is 01:00 UTC.
  assert.deepEqual(runs("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z",
  ]);
  assert.deepEqual(runs("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 2), [
    "2026-03-29T00:30:00.000Z",
    "2026-03-29T01:30:00.000Z",
  ]);
});

Deno.test("in autumn a fixed time that comes twice runs the first time only, and a wildcard runs in both hours", () => {
  // Berlin, 25 October 2026: 03:00 becomes 02:00, which is 01:00 UTC.
  assert.deepEqual(runs("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z",
  ]);
  assert.deepEqual(runs("30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 3), [
    "2026-10-25T00:30:00.000Z",
    "2026-10-25T01:30:00.000Z",
    "2026-10-25T02:30:00.000Z",
  ]);
});

Deno.test("schedules come back from their rows, and waking sets the alarm again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "callboard-scheduler-" });
  const db = await openDb({ url: `file:${folder}/test.db` });
  try {
    await bootstrap(db);
    const keep = async (decision: { readonly ops?: readonly unknown[] }) => {
      for (const op of decision.ops ?? []) {
        const statements = opStatements(op, {
          ref: "scheduler",
          kind: "scheduler",
          id: "scheduler",
          now: START,
        });
        assert.ok(statements.ok);
        await db.batch(statements.value);
      }
    };
    const first = handle(empty, "schedule.put", putting({ kind: "cron", expression: "0 9 * * *" }));
    const second = handle(
      first.state,
      "schedule.put",
      putting({ kind: "once", at: START + 5 }, { key: "one" }),
    );
    const changed = handle(
      second.state,
      "schedule.put",
      putting({ kind: "once", at: START + 6 }, { key: "one" }),
    );
    const ran = handle(changed.state, "schedule.tick", {}, START + 6);
    for (const decision of [first, second, changed, ran]) await keep(decision);

    const restored = scheduler.restore(await loadScheduler(db, "scheduler"), "scheduler");

    assert.deepEqual(restored, ran.state);
    const woke = handle(restored, "actor.woke", { incarnation: 2, crashes: 0 });
    assert.equal(woke.alarms[0]?.notBefore, Date.UTC(2026, 0, 11, 9));
    const again = handle(
      restored,
      "schedule.put",
      putting({ kind: "once", at: START + 9 }, { key: "one" }),
      START + 6,
    );
    await keep(again);
    assert.deepEqual(
      scheduler.restore(await loadScheduler(db, "scheduler"), "scheduler").schedules.length,
      2,
    );
    assert.equal((await db.query(sql("SELECT count(*) FROM schedule_runs"))).rows[0]?.[0], 1);
  } finally {
    await db.close();
    await Deno.remove(folder, { recursive: true });
  }
});
