/**
 * Actors as rows: what an edge that does not share the supervisor's process knows of them, and the depth of every mailbox.
 * Proven by `edge/conversations_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";

/** An actor with its mailbox and its conversation's title and channel. */
export interface ActorRow {
  readonly ref: string;
  readonly kind: string;
  readonly incarnation: number;
  readonly restarts: number;
  readonly down_reason: string | null;
  readonly down_detail: string | null;
  readonly down_at: number | null;
  readonly parked_at: number | null;
  readonly parked_reason: string | null;
  readonly title: string | null;
  readonly channel_id: number | null;
  readonly control: number;
  readonly normal: number;
  readonly oldest_at: number | null;
}

const MAILBOX = `FROM messages m WHERE m.to_ref = a.ref AND m.state IN ('queued', 'started')`;
const COLUMNS =
  `a.ref, a.kind, a.incarnation, a.restarts, a.down_reason, a.down_detail, a.down_at, a.parked_at, a.parked_reason,
  c.title, c.channel_id, (SELECT count(*) ${MAILBOX} AND m.lane = 0) AS control, (SELECT count(*) ${MAILBOX} AND m.lane = 1) AS normal,
  (SELECT min(m.at) ${MAILBOX}) AS oldest_at
  FROM actors a LEFT JOIN conversations c ON a.ref = 'conversation/' || c.id`;

/** Singletons first, then the conversations that changed last. Rejects with `DbError`. */
export async function listActors(db: Db, limit: number): Promise<ActorRow[]> {
  const rows = await db.query(
    sql(`SELECT ${COLUMNS} ORDER BY a.kind = 'conversation', a.updated_at DESC, a.ref LIMIT ?`, limit),
  );
  return objects<ActorRow>(rows);
}

/** The actors with these refs that exist. Rejects with `DbError`. */
export async function actorsByRef(db: Db, refs: readonly string[]): Promise<ActorRow[]> {
  if (refs.length === 0) return [];
  const rows = await db.query(
    sql(`SELECT ${COLUMNS} WHERE a.ref IN (${refs.map(() => "?").join(", ")})`, ...refs),
  );
  return objects<ActorRow>(rows);
}
