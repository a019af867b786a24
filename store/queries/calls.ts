/**
 * Reads of tool calls for people: what was asked lately. Proven by `edge/rules_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { type Viewer, visible } from "./access.ts";

/** A call with its conversation; `described` is JSON text. Times are milliseconds since the epoch. */
export interface CallRow {
  readonly id: string;
  readonly conversation: string;
  readonly title: string;
  readonly profile: string;
  readonly source: "web" | "channel" | "dm";
  readonly tool: string;
  /** What began the turn. */
  readonly triggered_by: "person" | "schedule";
  readonly state: string;
  readonly described: string;
  readonly created_at: number;
}

/** The described calls that the viewer may see, newest first. Rejects with `DbError`. */
export async function recentCalls(db: Db, viewer: Viewer, limit: number): Promise<CallRow[]> {
  const may = visible(viewer, "c.channel_id");
  const rows = await db.query(sql(
    `SELECT t.id, t.conversation, c.title, c.profile, c.source, t.tool, t.triggered_by, t.state, t.described, t.created_at
     FROM tool_calls t JOIN conversations c ON c.id = t.conversation
     WHERE t.described IS NOT NULL AND ${may.text} ORDER BY t.created_at DESC, t.id DESC LIMIT ?`,
    ...may.args,
    limit,
  ));
  return objects<CallRow>(rows);
}

/** Where a conversation stands, as policy sees it. */
export interface Standing {
  readonly profile: string;
  readonly source: "web" | "channel" | "dm";
  readonly channel_id: number | null;
}

/** The standing of a conversation, or undefined. Rejects with `DbError`. */
export async function standingOf(db: Db, conversation: string): Promise<Standing | undefined> {
  const rows = await db.query(
    sql("SELECT profile, source, channel_id FROM conversations WHERE id = ?", conversation),
  );
  return objects<Standing>(rows)[0];
}
