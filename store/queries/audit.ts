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

const COLUMNS =
  "seq, at, kind, item_id, call_id, conversation, actor, surface, device, decision, digest, body, prev_hash, hash";

/** Entries after a sequence number, oldest first. Rejects with `DbError`. */
export async function listDecisions(db: Db, after: number, limit: number): Promise<DecisionRow[]> {
  const rows = await db.query(
    sql(`SELECT ${COLUMNS} FROM decisions WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit),
  );
  return objects<DecisionRow>(rows);
}

/** Which entries to read, newest first. */
export interface LatestQuery {
  readonly limit: number;
  /** Only those before this one. */
  readonly before?: number | undefined;
  /** Only those after this one. */
  readonly after?: number | undefined;
  /** Only those of this kind. */
  readonly kind?: string | undefined;
}

/** The latest entries, newest first. Rejects with `DbError`. */
export async function latestDecisions(
  db: Db,
  { limit, before, after = 0, kind }: LatestQuery,
): Promise<DecisionRow[]> {
  const rows = await db.query(sql(
    `SELECT ${COLUMNS} FROM decisions WHERE seq > ? AND seq < ? AND ${kind === undefined ? "1" : "kind = ?"}
     ORDER BY seq DESC LIMIT ?`,
    after,
    before ?? Number.MAX_SAFE_INTEGER,
    ...(kind === undefined ? [] : [kind]),
    limit,
  ));
  return objects<DecisionRow>(rows);
}
