/**
 * Who may see and decide what: the one rule, as a predicate for a single thing and as SQL for lists. The owner sees everything. Everybody else
 * sees the channels that an entitlement names; web chats and direct messages belong to the owner alone. Without a row there is no access.
 * Proven by `edge/permissions_test.ts`.
 */
import { type Db, objects, sql, type SqlValue } from "../db.ts";

/** `view` reads; `approve` also decides and writes, if the role allows it. */
export type Access = "view" | "approve";

/** A signed-in person as the rule sees them. */
export interface Viewer {
  readonly userId: string;
  readonly role: "owner" | "approver" | "viewer";
  readonly channels: ReadonlyMap<number, Access>;
}

/** A condition with its arguments, to be put after WHERE or AND. */
export interface Condition {
  readonly text: string;
  readonly args: readonly SqlValue[];
}

/** Whether the viewer may see what belongs to this channel; null is a conversation that stands in no channel. */
export function canSee(viewer: Viewer, channelId: number | null): boolean {
  if (viewer.role === "owner") return true;
  return channelId !== null && viewer.channels.has(channelId);
}

/** Whether the viewer may decide, write and stop there. */
export function canAct(viewer: Viewer, channelId: number | null): boolean {
  if (viewer.role === "owner") return true;
  return viewer.role === "approver" && channelId !== null && viewer.channels.get(channelId) === "approve";
}

/** `canSee` for a list; `column` names the channel id of the row, for example `c.channel_id`. */
export function visible(viewer: Viewer, column: string): Condition {
  if (viewer.role === "owner") return { text: "1", args: [] };
  const ids = [...viewer.channels.keys()];
  if (ids.length === 0) return { text: "0", args: [] };
  return { text: `${column} IN (${ids.map(() => "?").join(", ")})`, args: ids };
}

/** The channels of a user. */
export async function channelsOf(db: Db, userId: string): Promise<Map<number, Access>> {
  const rows = await db.query(sql("SELECT channel_id, access FROM entitlements WHERE user_id = ?", userId));
  return toChannels(objects<{ channel_id: number; access: string }>(rows));
}

/** Rows of `entitlements` as a map; an access that this version does not know gives only sight. */
export function toChannels(
  rows: readonly { readonly channel_id: number; readonly access: string }[],
): Map<number, Access> {
  return new Map(rows.map((row) => [row.channel_id, row.access === "approve" ? "approve" : "view"]));
}
