/**
 * Marks that people leave on an item without deciding it: seen, later (each for themselves), and whom they ask to decide, which an escalation may
 * set as well. The item's state and version are not touched, so a mark never gets in the way of a decision. Proven by `edge/inbox_test.ts`.
 */
import { guard, labelled, sql, type Statement } from "../db.ts";
import { announce } from "../feed.ts";

/** The statements that hide a waiting item from one person's badge until a time, or no longer; they fail their batch when it waits no more. */
export function markLater(
  itemId: string,
  version: number,
  { userId, until }: { readonly userId: string; readonly until: number | null },
  now: number,
): Statement[] {
  return [
    ...labelled(
      "item still waiting",
      guard(`EXISTS (SELECT 1 FROM pending_items WHERE id = ? AND state = 'waiting')`, itemId),
    ),
    until === null ? sql("DELETE FROM item_later WHERE item_id = ? AND user_id = ?", itemId, userId) : sql(
      `INSERT INTO item_later (item_id, user_id, until) VALUES (?, ?, ?)
       ON CONFLICT (item_id, user_id) DO UPDATE SET until = excluded.until`,
      itemId,
      userId,
      until,
    ),
    announce("item", itemId, version, now),
  ];
}

/** The statements that name who is asked to decide a waiting item; null names nobody. They fail their batch when it waits no more. */
export function markDelegated(
  itemId: string,
  version: number,
  userId: string | null,
  now: number,
): Statement[] {
  return [
    ...labelled(
      "item still waiting",
      guard(`EXISTS (SELECT 1 FROM pending_items WHERE id = ? AND state = 'waiting')`, itemId),
    ),
    sql("UPDATE pending_items SET delegated_to = ? WHERE id = ?", userId, itemId),
    announce("item", itemId, version, now),
  ];
}

/** The statements that note the first time a person looked at an item. */
export function markSeen(itemId: string, version: number, now: number): Statement[] {
  return [
    sql("UPDATE pending_items SET seen_at = ? WHERE id = ? AND seen_at IS NULL", now, itemId),
    announce("item", itemId, version, now),
  ];
}
