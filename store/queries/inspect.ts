/**
 * Everything that rows know of one actor, for an operator with a shell: read from one snapshot, whether a supervisor is at work or not.
 * Proven by `inspect_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { DB_NOW, SUPERVISOR_LEASE } from "../lease.ts";

/** One actor. Times are milliseconds since the epoch, payloads JSON text. */
export interface ActorFacts {
  readonly actor: {
    readonly kind: string;
    readonly incarnation: number;
    readonly restarts: number;
    readonly down_reason: string | null;
    readonly down_at: number | null;
    readonly parked_reason: string | null;
  } | undefined;
  readonly title: string | undefined;
  /** The incarnation that has no end yet: it lives, or its supervisor was killed. */
  readonly isOpen: boolean;
  readonly supervisor: { readonly holder: string; readonly fresh: boolean } | undefined;
  readonly mail: readonly {
    readonly id: string;
    readonly type: string;
    readonly from_ref: string;
    readonly lane: number;
    readonly state: string;
    readonly at: number;
    readonly not_before: number | null;
    readonly failures: number;
  }[];
  readonly events: readonly {
    readonly seq: number;
    readonly type: string;
    readonly payload: string;
    readonly at: number;
  }[];
  readonly downs: readonly {
    readonly incarnation: number;
    readonly reason: string;
    readonly detail: string | null;
    readonly suspect: number;
    readonly at: number;
  }[];
  readonly deadLetters: readonly {
    readonly message_id: string;
    readonly type: string;
    readonly reason: string;
    readonly detail: string | null;
    readonly at: number;
    readonly settled: string | null;
  }[];
}

/** Reads the facts of `ref`, at most `limit` of each sort, the newest (of mail: the first in line). Rejects with `DbError`. */
export async function actorFacts(db: Pick<Db, "queryAll">, ref: string, limit: number): Promise<ActorFacts> {
  const [actor, title, lease, mail, events, downs, letters] = await db.queryAll([
    sql(
      `SELECT kind, incarnation, restarts, down_reason, down_at, parked_reason, incarnation > 0 AND NOT EXISTS
         (SELECT 1 FROM downs d WHERE d.ref = actors.ref AND d.incarnation = actors.incarnation) AS open
       FROM actors WHERE ref = ?`,
      ref,
    ),
    sql("SELECT title FROM conversations WHERE 'conversation/' || id = ?", ref),
    sql(`SELECT holder, expires_at > ${DB_NOW} AS fresh FROM leases WHERE name = ?`, SUPERVISOR_LEASE),
    sql(
      `SELECT id, type, from_ref, lane, state, at, not_before, failures FROM messages
       WHERE to_ref = ? AND state IN ('queued', 'started') ORDER BY lane, seq LIMIT ?`,
      ref,
      limit,
    ),
    sql("SELECT seq, type, payload, at FROM events WHERE actor = ? ORDER BY seq DESC LIMIT ?", ref, limit),
    sql(
      "SELECT incarnation, reason, detail, suspect, at FROM downs WHERE ref = ? ORDER BY incarnation DESC LIMIT ?",
      ref,
      limit,
    ),
    sql(
      `SELECT message_id, type, reason, detail, at, settled FROM dead_letters WHERE to_ref = ? ORDER BY at DESC LIMIT ?`,
      ref,
      limit,
    ),
  ]);
  const row = actor && objects<NonNullable<ActorFacts["actor"]> & { open: number }>(actor)[0];
  const holder = lease && objects<{ holder: string; fresh: number }>(lease)[0];
  return {
    actor: row,
    title: title && objects<{ title: string }>(title)[0]?.title,
    isOpen: row?.open === 1,
    supervisor: holder && { holder: holder.holder, fresh: holder.fresh === 1 },
    mail: mail ? objects<ActorFacts["mail"][number]>(mail) : [],
    events: events ? objects<ActorFacts["events"][number]>(events).reverse() : [],
    downs: downs ? objects<ActorFacts["downs"][number]>(downs) : [],
    deadLetters: letters ? objects<ActorFacts["deadLetters"][number]>(letters) : [],
  };
}

/** Refs of actors, those that changed last first. Rejects with `DbError`. */
export async function recentActors(db: Pick<Db, "query">, limit: number): Promise<string[]> {
  const rows = await db.query(sql("SELECT ref FROM actors ORDER BY updated_at DESC, ref LIMIT ?", limit));
  return objects<{ ref: string }>(rows).map(({ ref }) => ref);
}
