/**
 * The state of the whole in a few numbers: the supervisor's lease, and the counters of the metrics page. Proven by `edge/app_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { DB_NOW, SUPERVISOR_LEASE } from "../lease.ts";

/** The supervisor's lease by the database's clock. */
export interface LeaseState {
  readonly fresh: boolean;
  readonly holder?: string;
  readonly expiresAt?: number;
}

/** One labelled number. */
export interface Count {
  readonly label: string;
  readonly value: number;
}

/** What the metrics page counts in rows. */
export interface Totals {
  readonly items: readonly Count[];
  readonly conversations: readonly Count[];
  readonly queued: readonly Count[];
  readonly downs: readonly Count[];
  readonly deadLetters: number;
  readonly expiredUndecided: number;
  readonly oldestWaitingMs: number;
  readonly oldestQueuedMs: number;
}

/** Whether a supervisor is at work. Rejects with `DbError`. */
export async function leaseState(db: Db): Promise<LeaseState> {
  const rows = await db.query(
    sql(
      `SELECT holder, expires_at, expires_at > ${DB_NOW} AS fresh FROM leases WHERE name = ?`,
      SUPERVISOR_LEASE,
    ),
  );
  const row = objects<{ holder: string; expires_at: number; fresh: number }>(rows)[0];
  if (!row) return { fresh: false };
  return { fresh: row.fresh === 1, holder: row.holder, expiresAt: row.expires_at };
}

/** Reads all totals from one snapshot. Rejects with `DbError`. */
export async function totals(db: Db, now: number): Promise<Totals> {
  const [items, conversations, queued, downs, single] = await db.queryAll([
    sql("SELECT state AS label, count(*) AS value FROM pending_items GROUP BY state ORDER BY state"),
    sql("SELECT status AS label, count(*) AS value FROM conversations GROUP BY status ORDER BY status"),
    sql(
      `SELECT CASE lane WHEN 0 THEN 'control' ELSE 'normal' END AS label, count(*) AS value FROM messages
       WHERE state IN ('queued', 'started') AND to_ref <> 'edge' GROUP BY lane ORDER BY lane`,
    ),
    sql("SELECT reason AS label, count(*) AS value FROM downs GROUP BY reason ORDER BY reason"),
    sql(
      `SELECT (SELECT count(*) FROM dead_letters) AS dead, (SELECT count(*) FROM pending_items WHERE state = 'expired') AS expired,
       (SELECT min(created_at) FROM pending_items WHERE state = 'waiting') AS waiting_since,
       (SELECT min(at) FROM messages WHERE state IN ('queued', 'started') AND to_ref <> 'edge'
         AND coalesce(not_before, 0) <= ?) AS queued_since`,
      now,
    ),
  ]);
  const one = single &&
    objects<
      { dead: number; expired: number; waiting_since: number | null; queued_since: number | null }
    >(single)[0];
  return {
    items: items ? objects<Count>(items) : [],
    conversations: conversations ? objects<Count>(conversations) : [],
    queued: queued ? objects<Count>(queued) : [],
    downs: downs ? objects<Count>(downs) : [],
    deadLetters: one?.dead ?? 0,
    expiredUndecided: one?.expired ?? 0,
    oldestWaitingMs: age(one?.waiting_since, now),
    oldestQueuedMs: age(one?.queued_since, now),
  };
}

function age(since: number | null | undefined, now: number): number {
  return since === null || since === undefined ? 0 : Math.max(0, now - since);
}
