/**
 * Token buckets as rows, so that every instance of the edge counts together. Taking a token is one statement, hence atomic.
 * Proven by `edge/session_test.ts`.
 */
import { type Db, sql } from "../db.ts";

/** A bucket of `capacity` tokens that gains `perSecond`. */
export interface Bucket {
  readonly capacity: number;
  readonly perSecond: number;
}

const FORGET_MS = 86_400_000;

/** Takes a token of the bucket named `key`; false when it is empty. Rejects with `DbError`. */
export async function takeToken(db: Db, key: string, bucket: Bucket, now: number): Promise<boolean> {
  const refilled = "min(?, tokens + max(0, ? - at) * ? / 1000.0)";
  const refill = [bucket.capacity, now, bucket.perSecond] as const;
  const [taken] = await db.batch([
    sql(
      `INSERT INTO rate_limits (key, tokens, at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET tokens = ${refilled} - 1, at = max(at, excluded.at) WHERE ${refilled} >= 1 RETURNING tokens`,
      key,
      bucket.capacity - 1,
      now,
      ...refill,
      ...refill,
    ),
    sql("DELETE FROM rate_limits WHERE at < ?", now - FORGET_MS),
  ]);
  return taken?.rows.length === 1;
}
