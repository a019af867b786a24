/**
 * What is remembered of an actor while it sleeps: its incarnation, how it last ended, whether it is parked. Rows of `actors` and `downs`; this
 * file has their statements. Promises exactly one `downs` row for each incarnation that was started. Proven by `runtime/runtime_test.ts`.
 */
import { type Db, objects, sql, type Statement } from "../../store/db.ts";
import { announce } from "../../store/feed.ts";
import type { DownReason } from "./judge_death.ts";

/** How an incarnation ended. */
export interface LastDown {
  readonly reason: DownReason;
  readonly detail: string;
  readonly at: number;
}

/** One actor's memory. Times are milliseconds since the epoch. */
export interface ActorRecord {
  readonly ref: string;
  readonly kind: string;
  incarnation: number;
  restarts: number;
  lastDown: LastDown | undefined;
  parkedReason: string | undefined;
  /** Crashes of its own since its last event, when the record was read: what an earlier supervisor had counted. */
  readonly crashes: number;
}

/** The detail of a `shutdown` that was only sleep. */
export const IDLE = "idle";

/** A record of an actor that never ran. */
export function freshRecord(ref: string, kind: string): ActorRecord {
  return { ref, kind, incarnation: 0, restarts: 0, lastDown: undefined, parkedReason: undefined, crashes: 0 };
}

interface Row {
  ref: string;
  kind: string;
  incarnation: number;
  restarts: number;
  down_reason: DownReason | null;
  down_detail: string | null;
  down_at: number | null;
  parked_reason: string | null;
  crashes: number;
}

/** Only looked for where the last incarnation did not end in sleep, which begins after a commit. */
const CRASHES = `CASE WHEN down_detail IS NULL OR down_detail = ? THEN 0 ELSE
  (SELECT count(*) FROM downs WHERE downs.ref = actors.ref AND suspect = 1 AND at >
    coalesce((SELECT at FROM events WHERE actor = actors.ref ORDER BY seq DESC LIMIT 1), 0)) END`;

/** Every actor that ever ran. Rejects with `DbError`. */
export async function loadRecords(db: Pick<Db, "query">): Promise<ActorRecord[]> {
  const rows = await db.query(
    sql(
      `SELECT ref, kind, incarnation, restarts, down_reason, down_detail, down_at, parked_reason, ${CRASHES} AS crashes FROM actors`,
      IDLE,
    ),
  );
  return objects<Row>(rows).map((row) => ({
    ref: row.ref,
    kind: row.kind,
    incarnation: row.incarnation,
    restarts: row.restarts,
    lastDown: row.down_reason === null
      ? undefined
      : { reason: row.down_reason, detail: row.down_detail ?? "", at: row.down_at ?? 0 },
    parkedReason: row.parked_reason ?? undefined,
    crashes: row.crashes,
  }));
}

/** Ends what a supervisor left behind that was killed: each incarnation without a `downs` row is lost. */
export function loseAll(now: number): Statement[] {
  const open = `incarnation > 0 AND NOT EXISTS
    (SELECT 1 FROM downs WHERE downs.ref = actors.ref AND downs.incarnation = actors.incarnation)`;
  const detail = "the supervisor ended";
  return [
    sql(
      `UPDATE actors SET down_reason = 'lost', down_detail = ?, down_at = ?, updated_at = ? WHERE ${open}`,
      detail,
      now,
      now,
    ),
    sql(
      `INSERT INTO downs (ref, incarnation, reason, detail, suspect, at)
       SELECT ref, incarnation, 'lost', ?, 0, ? FROM actors WHERE ${open}`,
      detail,
      now,
    ),
  ];
}

/** A new incarnation, as `record` already says. */
export function startStatements(record: ActorRecord, now: number): Statement[] {
  const { ref, kind, incarnation } = record;
  return [
    sql(
      `INSERT INTO actors (ref, kind, incarnation, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (ref) DO UPDATE SET incarnation = excluded.incarnation, updated_at = excluded.updated_at,
         parked_at = NULL, parked_reason = NULL`,
      ref,
      kind,
      incarnation,
      now,
      now,
    ),
    announce("actor", ref, incarnation, now),
  ];
}

/** The end of the incarnation, as `record` already says. `failed`: the message that the suspect had in hand. */
export function downStatements(
  record: ActorRecord,
  down: LastDown & { readonly suspect: boolean; readonly failed?: string | undefined },
): Statement[] {
  const { ref, incarnation, restarts } = record;
  const { reason, detail, suspect, failed, at } = down;
  return [
    sql(
      `INSERT INTO downs (ref, incarnation, reason, detail, suspect, at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (ref, incarnation) DO NOTHING`,
      ref,
      incarnation,
      reason,
      detail,
      suspect,
      at,
    ),
    sql(
      `UPDATE actors SET restarts = ?, down_reason = ?, down_detail = ?, down_at = ?, updated_at = ? WHERE ref = ?`,
      restarts,
      reason,
      detail,
      at,
      at,
      ref,
    ),
    announce("actor", ref, incarnation, at),
    ...(failed === undefined
      ? []
      : [sql("UPDATE messages SET failures = failures + 1 WHERE id = ?", failed)]),
  ];
}

/** Parks the actor, or takes it out when the record has no reason. */
export function parkStatements(record: ActorRecord, now: number): Statement[] {
  const { ref, incarnation, parkedReason } = record;
  return [
    sql(
      "UPDATE actors SET parked_at = ?, parked_reason = ?, updated_at = ? WHERE ref = ?",
      parkedReason === undefined ? null : now,
      parkedReason,
      now,
      ref,
    ),
    announce("actor", ref, incarnation, now),
  ];
}

/** Whether its last incarnation ended otherwise than in sleep. */
export function wasAwake({ lastDown }: ActorRecord): boolean {
  return lastDown !== undefined && lastDown.detail !== IDLE;
}
