/**
 * Reads of the feed: what viewers' streams follow. Proven by `edge/stream_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import type { FeedKind } from "../feed.ts";

/** A row of `feed`. */
export interface FeedRow {
  readonly seq: number;
  readonly kind: FeedKind;
  readonly ref: string;
  readonly version: number;
}

/** `last`: the newest number ever given. `pruned`: everything up to this number may be gone. */
export interface FeedBounds {
  readonly last: number;
  readonly pruned: number;
}

/** From where to where the feed can be followed. Rejects with `DbError`. */
export async function feedBounds(db: Db): Promise<FeedBounds> {
  const rows = await db.query(
    sql(
      `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0) AS last,
       coalesce((SELECT min(seq) - 1 FROM feed), (SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0) AS pruned`,
    ),
  );
  return objects<FeedBounds>(rows)[0] ?? { last: 0, pruned: 0 };
}

/** Rows after a number, in order. Rejects with `DbError`. */
export async function feedAfter(db: Db, after: number, limit: number): Promise<FeedRow[]> {
  const rows = await db.query(
    sql("SELECT seq, kind, ref, version FROM feed WHERE seq > ? ORDER BY seq LIMIT ?", after, limit),
  );
  return objects<FeedRow>(rows);
}
