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
}

/** Everybody, the first made first. Rejects with `DbError`. */
export async function listPeople(db: Db): Promise<Person[]> {
  const [users, entitlements] = await db.queryAll([
    sql("SELECT id, name, role, zulip_user_id FROM users ORDER BY created_at, id"),
    sql("SELECT user_id, channel_id, access FROM entitlements ORDER BY channel_id"),
  ]);
  if (!users || !entitlements) throw new TypeError("the database answered fewer queries than were asked");
  const entitled = objects<{ user_id: string; channel_id: number; access: string }>(entitlements);
  return objects<{ id: string; name: string; role: Viewer["role"]; zulip_user_id: number | null }>(users).map(
    (row) => ({
      id: row.id,
      name: row.name,
      role: row.role,
      zulipUserId: row.zulip_user_id,
      channels: toChannels(entitled.filter((entitlement) => entitlement.user_id === row.id)),
    }),
  );
}
