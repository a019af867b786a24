/**
 * Reads of the decisions chain. Proven by `edge/inbox_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";

/** A row of `decisions`; `body` is JSON text. */
export interface DecisionRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly item_id: string | null;
  readonly call_id: string | null;
  readonly conversation: string | null;
  readonly actor: string;
  readonly surface: string;
  readonly device: string | null;
  readonly decision: string;
  readonly digest: string | null;
  readonly body: string;
  readonly prev_hash: string;
  readonly hash: string;
}

/** Entries after a sequence number, in order. Rejects with `DbError`. */
export async function listDecisions(db: Db, after: number, limit: number): Promise<DecisionRow[]> {
  const rows = await db.query(
    sql(
      `SELECT seq, at, kind, item_id, call_id, conversation, actor, surface, device, decision, digest, body, prev_hash, hash
       FROM decisions WHERE seq > ? ORDER BY seq LIMIT ?`,
      after,
      limit,
    ),
  );
  return objects<DecisionRow>(rows);
}
