/**
 * People. The edge is the only writer of `users`; the first start makes the owner. Proven by `edge/session_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";

/** A row of `users`. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "approver" | "viewer";
}

/** The id of the owner made at the first start: fixed, so that two first starts make one owner. */
export const OWNER_ID = "owner";

/** Makes the owner when there is none; safe to run in several processes at once. Resolves with the owner. Rejects with `DbError`. */
export async function ensureOwner(db: Db, now: number): Promise<User> {
  const found = await findOwner(db);
  if (found) return found;
  await db.batch([
    sql(
      `INSERT INTO users (id, name, role, created_at, updated_at) SELECT ?, 'Owner', 'owner', ?, ?
       WHERE NOT EXISTS (SELECT 1 FROM users WHERE role = 'owner') ON CONFLICT (id) DO NOTHING`,
      OWNER_ID,
      now,
      now,
    ),
  ]);
  const owner = await findOwner(db);
  if (!owner) throw new TypeError("the users table holds a non-owner under the owner's id");
  return owner;
}

/** The first owner. */
export async function findOwner(db: Db): Promise<User | undefined> {
  const rows = await db.query(
    sql("SELECT id, name, role FROM users WHERE role = 'owner' ORDER BY created_at, id LIMIT 1"),
  );
  return objects<User>(rows)[0];
}
