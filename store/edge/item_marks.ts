/**
 * Marks that people leave on an item without deciding it: seen, later, and whom they ask to decide. These columns are the edge's; the item's state and version are
 * not touched, so a mark never gets in the way of a decision. Proven by `edge/inbox_test.ts`.
 */
import { guard, labelled, sql, type Statement } from "../db.ts";
import { announce } from "../feed.ts";

/** The statements that hide a waiting item from badges until a time; they fail their batch when it waits no more. */
export function markLater(itemId: string, version: number, until: number, now: number): Statement[] {
  return [
    ...labelled(
      "item still waiting",
      guard(`EXISTS (SELECT 1 FROM pending_items WHERE id = ? AND state = 'waiting')`, itemId),
    ),
    sql("UPDATE pending_items SET later_until = ? WHERE id = ?", until, itemId),
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
