/**
 * People. The edge is the only writer of `users`; the first start makes the owner. Proven by `edge/session_test.ts`.
 */
import { type Db, guard, labelled, objects, sql, type Statement } from "../db.ts";
import type { Access } from "../queries/access.ts";

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

/** A person to be stored whole. */
export interface UserRecord extends User {
  readonly zulipUserId: number | null;
  readonly channels: readonly { readonly id: number; readonly access: Access }[];
}

/** What a failed batch says when nobody would be left as owner. */
export const OWNER_REMAINS = "an owner remains";

/** The statements that fail their batch unless the person's rows still say exactly this; `channels` in any order. */
export function userStands({ id, name, role, zulipUserId, channels }: UserRecord): Statement[] {
  const entitled = [...channels].sort((a, b) => a.id - b.id).map(({ id, access }) => `${id} ${access}`)
    .join();
  return labelled(
    "the person is as they were",
    guard(
      `EXISTS (SELECT 1 FROM users WHERE id = ? AND name = ? AND role = ? AND zulip_user_id IS ?)
       AND (SELECT COALESCE(group_concat(entry, ','), '') FROM
         (SELECT channel_id || ' ' || access AS entry FROM entitlements WHERE user_id = ? ORDER BY channel_id)) = ?`,
      id,
      name,
      role,
      zulipUserId,
      id,
      entitled,
    ),
  );
}

/** The statements that add or replace a person; they fail their batch when nobody would be left as owner. */
export function putUser(user: UserRecord, now: number): Statement[] {
  return [
    sql(
      `INSERT INTO users (id, name, role, zulip_user_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, role = excluded.role, zulip_user_id = excluded.zulip_user_id,
         updated_at = excluded.updated_at`,
      user.id,
      user.name,
      user.role,
      user.zulipUserId,
      now,
      now,
    ),
    sql("DELETE FROM entitlements WHERE user_id = ?", user.id),
    ...user.channels.map(({ id, access }) =>
      sql(
        `INSERT INTO entitlements (user_id, channel_id, access, at) VALUES (?, ?, ?, ?)
         ON CONFLICT (user_id, channel_id) DO UPDATE SET access = excluded.access`,
        user.id,
        id,
        access,
        now,
      )
    ),
    ...ownerRemains(),
  ];
}

/** The statements that remove a person and everything by which they get in. */
export function removeUser(id: string): Statement[] {
  return [
    sql("DELETE FROM push_subscriptions WHERE device_id IN (SELECT id FROM devices WHERE user_id = ?)", id),
    sql("DELETE FROM sessions WHERE user_id = ?", id),
    sql("DELETE FROM devices WHERE user_id = ?", id),
    sql("DELETE FROM login_tokens WHERE user_id = ?", id),
    sql("DELETE FROM passkeys WHERE user_id = ?", id),
    sql("DELETE FROM webauthn_challenges WHERE user_id = ?", id),
    sql("DELETE FROM entitlements WHERE user_id = ?", id),
    sql("DELETE FROM users WHERE id = ?", id),
    ...ownerRemains(),
  ];
}

function ownerRemains(): Statement[] {
  return labelled(OWNER_REMAINS, guard("EXISTS (SELECT 1 FROM users WHERE role = 'owner')"));
}
