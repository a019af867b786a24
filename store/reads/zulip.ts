/**
 * What the Zulip gateway asks the database: its journal at start, one post by what it is for, and whose card a message is.
 */
import * as z from "zod";
import { type Db, objects, sql } from "../db.ts";
import { read } from "../read.ts";

const by = ["zulip"];

/** A conversation's place in Zulip. */
export interface TopicRow {
  readonly conversation: string;
  readonly kind: "channel" | "dm";
  readonly channelId: number | null;
  readonly topicKey: string | null;
  readonly topic: string | null;
  readonly userIds: string | null;
  readonly lastOwnId: number | null;
}

/** A post that was intended, and what became of it. */
export interface PostRow {
  readonly localId: string;
  readonly conversation: string;
  readonly key: string;
  readonly target: string;
  readonly body: string;
  readonly bodyHash: string;
  readonly queueId: string | null;
  readonly afterId: number;
  readonly state: "intent" | "posted" | "failed" | "deleted";
  readonly messageId: number | null;
  readonly sentAt: number;
}

/** The card of an item that still waits. */
export interface CardRow {
  readonly messageId: number;
}

/** What `!status` tells. */
export interface StatusRow {
  readonly title: string;
  readonly status: string;
  readonly model: string | null;
  readonly turns: number;
}

const postColumns =
  `local_id AS localId, conversation, key, target, body, body_hash AS bodyHash, queue_id AS queueId,
  after_id AS afterId, state, message_id AS messageId, sent_at AS sentAt`;

async function first<T>(db: Db, text: string, ...args: (string | number)[]): Promise<T | null> {
  return objects<T>(await db.query(sql(text, ...args)))[0] ?? null;
}

/** Reads of this subject. */
export const zulipReads = {
  "zulip.start": read(by, z.object({ realm: z.string() }), async (db, { realm }) => ({
    topics: objects<TopicRow>(
      await db.query(sql(
        `SELECT conversation, kind, channel_id AS channelId, base_topic AS topicKey, topic, user_ids AS userIds, last_own_id AS lastOwnId
         FROM topics WHERE realm = ? AND retired_at IS NULL`,
        realm,
      )),
    ),
    mark: (await first<{ value: number }>(
      db,
      "SELECT value FROM zulip_marks WHERE realm = ? AND name = 'newest'",
      realm,
    ))?.value ?? null,
    cursor: JSON.parse(
      (await first<{ value: string }>(
        db,
        "SELECT value FROM settings WHERE key = ?",
        `zulip_cursor ${realm}`,
      ))?.value ??
        "null",
    ),
  })),
  "zulip.status": read(
    by,
    z.object({ conversation: z.string() }),
    (db, { conversation }) =>
      first<StatusRow>(
        db,
        "SELECT title, status, model, turns FROM conversations WHERE id = ?",
        conversation,
      ),
  ),
  "post.by_key": read(
    by,
    z.object({ key: z.string() }),
    (db, { key }) => first<PostRow>(db, `SELECT ${postColumns} FROM posts WHERE key = ?`, key),
  ),
  "post.by_local_id": read(
    by,
    z.object({ localId: z.string() }),
    (db, { localId }) => first<PostRow>(db, `SELECT ${postColumns} FROM posts WHERE local_id = ?`, localId),
  ),
  "post.by_message": read(
    by,
    z.object({ messageId: z.int() }),
    (db, { messageId }) =>
      first<PostRow>(db, `SELECT ${postColumns} FROM posts WHERE message_id = ?`, messageId),
  ),
  "post.buttons": read(
    by,
    z.object({ itemId: z.string() }),
    async (db, { itemId }) =>
      objects<PostRow>(
        await db.query(sql(
          `SELECT ${postColumns} FROM posts WHERE key > ? AND key < ? AND state = 'posted'`,
          `buttons/${itemId}/`,
          `buttons/${itemId}0`,
        )),
      ),
  ),
  "card.waiting": read(by, z.object({}), async (db) =>
    objects<CardRow>(
      await db.query(sql(
        `SELECT posts.message_id AS messageId FROM pending_items
         JOIN posts ON posts.message_id = pending_items.card_message_id AND posts.state = 'posted'
         WHERE pending_items.state = 'waiting'`,
      )),
    )),
  "post.open": read(
    by,
    z.object({ conversation: z.string() }),
    (db, { conversation }) =>
      first<PostRow>(
        db,
        `SELECT ${postColumns} FROM posts WHERE conversation = ? AND state = 'intent'`,
        conversation,
      ),
  ),
} as const;
