/**
 * Everybody with their channels, as the owner's list shows them and as approval must know them. Proven by `edge/users_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { type Access, toChannels, type Viewer } from "./access.ts";

/** A person with their entitlements. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: Viewer["role"];
  readonly zulipUserId: number | null;
  readonly channels: ReadonlyMap<number, Access>;
  /** When the last of their sessions ends unless it is used, milliseconds since the epoch; null: signed in nowhere. */
  readonly sessionUntil: number | null;
  /** They have a device that takes push messages. */
  readonly takesPush: boolean;
}

/** `Person.sessionUntil` as a column of `users`. */
export const SESSION_UNTIL = `(SELECT max(s.expires_at) FROM sessions s JOIN devices d ON d.id = s.device_id
  WHERE s.user_id = users.id AND d.revoked_at IS NULL)`;

/** Whether somebody has a device that takes push messages, as a column of `users`: 1 or 0. */
export const TAKES_PUSH =
  `EXISTS (SELECT 1 FROM push_subscriptions p JOIN devices d ON d.id = p.device_id AND d.revoked_at IS NULL
  WHERE d.user_id = users.id AND p.failed_at IS NULL)`;

interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly role: Viewer["role"];
  readonly zulip_user_id: number | null;
  readonly session_until: number | null;
  readonly takes_push: number;
}

/** Everybody, the first made first. Rejects with `DbError`. */
export async function listPeople(db: Db): Promise<Person[]> {
  const [users, entitlements] = await db.queryAll([
    sql(
      `SELECT id, name, role, zulip_user_id, ${SESSION_UNTIL} AS session_until, ${TAKES_PUSH} AS takes_push FROM users ORDER BY created_at, id`,
    ),
    sql("SELECT user_id, channel_id, access FROM entitlements ORDER BY channel_id"),
  ]);
  if (!users || !entitlements) throw new TypeError("the database answered fewer queries than were asked");
  const entitled = objects<{ user_id: string; channel_id: number; access: string }>(entitlements);
  return objects<PersonRow>(users).map(
    (row) => ({
      id: row.id,
      name: row.name,
      role: row.role,
      zulipUserId: row.zulip_user_id,
      channels: toChannels(entitled.filter((entitlement) => entitlement.user_id === row.id)),
      sessionUntil: row.session_until,
      takesPush: row.takes_push === 1,
    }),
  );
}
