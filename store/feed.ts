/**
 * What viewers follow. A row is written in the same batch as what it announces; its `seq` is the SSE id on every instance.
 */
import { sql, type Statement } from "./db.ts";

/** What changed: a pending item, an actor, a conversation's row or events, a schedule, or policy. */
export type FeedKind = "item" | "actor" | "conversation" | "events" | "schedule" | "policy";

/** Announces that `ref` of `kind` is now at `version` (an item's version, an event's seq, or 0 where none exists). */
export function announce(kind: FeedKind, ref: string, version: number, at: number): Statement {
  return sql("INSERT INTO feed (kind, ref, version, at) VALUES (?, ?, ?, ?)", kind, ref, version, at);
}
