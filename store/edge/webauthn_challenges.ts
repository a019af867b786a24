/**
 * WebAuthn challenges, kept only as hashes: each is for one purpose, lives for minutes, and is used up by the first answer to it, right or wrong.
 * Proven by `edge/passkeys_test.ts`.
 */
import { type Db, sql, type Statement } from "../db.ts";

/** How long a challenge can be answered, in milliseconds. */
export const CHALLENGE_MS = 5 * 60_000;

/** What a challenge is for; an answer counts for nothing else. */
export type ChallengePurpose = "register" | "sign_in" | "confirm";

/** A challenge as it is stored. `userId` is null where nobody is known yet. */
export interface Challenge {
  readonly hash: string;
  readonly purpose: ChallengePurpose;
  readonly userId: string | null;
}

/** The statements that store a challenge; old ones go. */
export function insertChallenge({ hash, purpose, userId }: Challenge, now: number): Statement[] {
  return [
    sql("DELETE FROM webauthn_challenges WHERE expires_at <= ?", now),
    sql(
      "INSERT INTO webauthn_challenges (hash, user_id, purpose, expires_at) VALUES (?, ?, ?, ?)",
      hash,
      userId,
      purpose,
      now + CHALLENGE_MS,
    ),
  ];
}

/** Uses a challenge up; resolves to whether it was there, for this purpose and person, and unused. Rejects with `DbError`. */
export async function useChallenge(
  db: Db,
  { hash, purpose, userId }: Challenge,
  now: number,
): Promise<boolean> {
  const [used] = await db.batch([
    sql(
      `UPDATE webauthn_challenges SET used_at = ?
       WHERE hash = ? AND purpose = ? AND user_id IS ? AND used_at IS NULL AND expires_at > ?`,
      now,
      hash,
      purpose,
      userId,
      now,
    ),
  ]);
  return used?.rowsAffected === 1;
}
