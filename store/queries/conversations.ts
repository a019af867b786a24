/**
 * Reads of conversations and their event logs, for lists and transcripts. Proven by `edge/conversations_test.ts`.
 */
import { type Db, objects, sql, type SqlValue } from "../db.ts";
import { type Viewer, visible } from "./access.ts";

/** A conversation with what its topic and waiting items add. JSON columns are text as stored. */
export interface ConversationRow {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly channel_id: number | null;
  readonly profile: string;
  readonly model: string | null;
  readonly status: "idle" | "running" | "waiting" | "paused" | "parked";
  readonly turns: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly preview: string | null;
  readonly topic: string | null;
  readonly topic_kind: "channel" | "dm" | null;
  readonly waiting: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** One row of a conversation's log; `payload` is JSON text. */
export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly payload: string;
  readonly at: number;
}

/** Where a page of conversations starts: after this one. */
export interface ConversationCursor {
  readonly updatedAt: number;
  readonly id: string;
}

/**
 * The title of the conversation `c` with its topic `t`: a topic's name as it is now. The conversation itself learns of a rename only with the next
 * message there, and keeps the name of the channel that stands before it.
 */
const TITLE_NOW = `CASE WHEN t.kind = 'channel' AND t.topic IS NOT NULL AND instr(c.title, ' > ') > 0
     THEN substr(c.title, 1, instr(c.title, ' > ') + 2) || CASE t.topic WHEN '' THEN 'general chat' ELSE t.topic END
     ELSE c.title END`;
export const TITLE = `${TITLE_NOW} AS title`;

const COLUMNS =
  `c.id, ${TITLE}, c.source, c.channel_id, c.profile, c.model, c.status, c.turns, c.input_tokens, c.output_tokens, c.cost_usd,
  c.preview, t.topic, t.kind AS topic_kind, c.created_at, c.updated_at,
  (SELECT count(*) FROM pending_items p WHERE p.state = 'waiting' AND p.conversation = c.id) AS waiting
  FROM conversations c LEFT JOIN topics t ON t.conversation = c.id`;

/** What a search looks in. */
const SEARCHED = `${TITLE_NOW} || char(10) || ifnull(t.topic, '') || char(10) || ifnull(c.preview, '')`;
/** More words of a search are not looked at. */
const MAX_WORDS = 8;

/** The condition that title, topic or preview hold every word of a text, whatever the case of its ASCII letters. */
function holding(text: string): { readonly text: string; readonly args: string[] } {
  const words = text.split(/\s+/).filter((word) => word !== "").slice(0, MAX_WORDS);
  return {
    text: words.map(() => `AND (${SEARCHED}) LIKE ? ESCAPE '\\'`).join(" "),
    args: words.map((word) => `%${word.replace(/[\\%_]/g, "\\$&")}%`),
  };
}

/** Conversations that the viewer may see, the last changed first; with `search`, those that hold its words. Rejects with `DbError`. */
export async function listConversations(
  db: Db,
  viewer: Viewer,
  page: { limit: number; after?: ConversationCursor | undefined; search?: string | undefined },
): Promise<ConversationRow[]> {
  const may = visible(viewer, "c.channel_id");
  const found = holding(page.search ?? "");
  const from = page.after;
  const position = from ? "AND (c.updated_at, c.id) < (?, ?)" : "";
  const args: SqlValue[] = from ? [from.updatedAt, from.id] : [];
  const rows = await db.query(
    sql(
      `SELECT ${COLUMNS} WHERE c.archived_at IS NULL AND ${may.text} ${found.text} ${position} ORDER BY c.updated_at DESC, c.id DESC LIMIT ?`,
      ...may.args,
      ...found.args,
      ...args,
      page.limit,
    ),
  );
  return objects<ConversationRow>(rows);
}

/** The conversations with these ids that exist. Rejects with `DbError`. */
export async function conversationsById(db: Db, ids: readonly string[]): Promise<ConversationRow[]> {
  if (ids.length === 0) return [];
  const rows = await db.query(
    sql(`SELECT ${COLUMNS} WHERE c.id IN (${ids.map(() => "?").join(", ")})`, ...ids),
  );
  return objects<ConversationRow>(rows);
}

/** The first message from the edge to a conversation that has not been handled yet: its payload (JSON text) and time. */
export async function queuedOpening(
  db: Db,
  id: string,
): Promise<{ readonly payload: string; readonly at: number } | undefined> {
  const rows = await db.query(
    sql(
      `SELECT payload, at FROM messages WHERE to_ref = ? AND lane = 1 AND state IN ('queued', 'started') AND from_ref = 'edge'
       AND type = 'conversation.message' ORDER BY seq LIMIT 1`,
      `conversation/${id}`,
    ),
  );
  return objects<{ payload: string; at: number }>(rows)[0];
}

/** The log of a conversation after a sequence number. Rejects with `DbError`. */
export async function listEvents(db: Db, id: string, after: number, limit: number): Promise<EventRow[]> {
  const rows = await db.query(
    sql(
      "SELECT seq, type, payload, at FROM events WHERE actor = ? AND seq > ? ORDER BY seq LIMIT ?",
      `conversation/${id}`,
      after,
      limit,
    ),
  );
  return objects<EventRow>(rows);
}
