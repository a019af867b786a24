/**
 * One-time sign-in tokens, kept only as hashes. A token is used by a compare-and-set in the batch that makes the session
 * (`store/edge/sessions.ts`). Proven by `edge/session_test.ts`.
 */
import { type Db, guard, labelled, objects, sql, type Statement } from "../db.ts";

/** How long a token can be used, in milliseconds. */
export const LOGIN_TOKEN_MS = 15 * 60_000;

const KEEP_MS = 7 * 86_400_000;

/** The statements that store a token; old ones go. */
export function insertLoginToken(hash: string, userId: string, now: number): Statement[] {
  return [
    sql("DELETE FROM login_tokens WHERE expires_at < ?", now - KEEP_MS),
    sql(
      "INSERT INTO login_tokens (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
      hash,
      userId,
      now,
      now + LOGIN_TOKEN_MS,
    ),
  ];
}

/** Whose token this is, if it can still be used. Rejects with `DbError`. */
export async function findLoginToken(db: Db, hash: string, now: number): Promise<string | undefined> {
  const rows = await db.query(
    sql("SELECT user_id FROM login_tokens WHERE hash = ? AND used_at IS NULL AND expires_at > ?", hash, now),
  );
  return objects<{ user_id: string }>(rows)[0]?.user_id;
}

/** The statements that use it up; they fail their batch when somebody was faster. */
export function useLoginToken(hash: string, now: number): Statement[] {
  return labelled("token unused", [
    ...guard(
      "EXISTS (SELECT 1 FROM login_tokens WHERE hash = ? AND used_at IS NULL AND expires_at > ?)",
      hash,
      now,
    ),
    sql("UPDATE login_tokens SET used_at = ? WHERE hash = ?", now, hash),
  ]);
}
