/**
 * Operations of the Zulip gateway: the topic journal, the posts it intends and made, and how far it has read.
 */
import * as z from "zod";
import { guard, sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";

const by = ["zulip"];

const TopicPut = z.object({
  conversation: z.string(),
  realm: z.string(),
  kind: z.enum(["channel", "dm"]),
  channelId: z.int().nullable(),
  /** Two spellings of one topic have one key. */
  topicKey: z.string().nullable(),
  topic: z.string().nullable(),
  /** Sorted, comma-separated. */
  userIds: z.string().nullable(),
});

const TopicMove = z.object({
  conversation: z.string(),
  channelId: z.int(),
  topicKey: z.string(),
  topic: z.string(),
});

const PostIntent = z.object({
  localId: z.string(),
  conversation: z.string(),
  /** What is posted: `answer/<turn>/<part>`, `card/<item>`, `note/<key>` … At most one post a key, for ever. */
  key: z.string(),
  target: z.string(),
  body: z.string(),
  bodyHash: z.string(),
  queueId: z.string().nullable(),
  /** The newest message id known before the POST. */
  afterId: z.int(),
});

const Posted = z.object({ localId: z.string(), conversation: z.string(), messageId: z.int() });

/** Operations of this subject. */
export const zulipOps = {
  "topic.put": op(by, TopicPut, (t, { now }) => [
    sql(
      `INSERT INTO topics (conversation, realm, kind, channel_id, base_topic, topic, user_ids, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation) DO NOTHING`,
      t.conversation,
      t.realm,
      t.kind,
      t.channelId,
      t.topicKey,
      t.topic,
      t.userIds,
      now,
      now,
    ),
  ]),
  "topic.move": op(by, TopicMove, (t, { now }) => [
    sql(
      "UPDATE topics SET channel_id = ?, base_topic = ?, topic = ?, updated_at = ? WHERE conversation = ?",
      t.channelId,
      t.topicKey,
      t.topic,
      now,
      t.conversation,
    ),
    // Lists show a topic's name, which the conversation learns of later.
    announce("conversation", t.conversation, 0, now),
  ]),
  "topic.retire": op(by, z.object({ conversation: z.string() }), (t, { now }) => [
    sql("UPDATE topics SET retired_at = ?, updated_at = ? WHERE conversation = ?", now, now, t.conversation),
  ]),
  "post.intent": op(by, PostIntent, (p, { now }) => [
    ...guard("NOT EXISTS (SELECT 1 FROM posts WHERE conversation = ? AND state = 'intent')", p.conversation),
    sql(
      `INSERT INTO posts (local_id, conversation, key, target, body, body_hash, queue_id, after_id, state, sent_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'intent', ?, ?, ?)`,
      p.localId,
      p.conversation,
      p.key,
      p.target,
      p.body,
      p.bodyHash,
      p.queueId,
      p.afterId,
      now,
      now,
      now,
    ),
  ]),
  "post.again": op(by, z.object({ localId: z.string() }), ({ localId }, { now }) => [
    sql(
      "UPDATE posts SET sent_at = ?, updated_at = ? WHERE local_id = ? AND state = 'intent'",
      now,
      now,
      localId,
    ),
  ]),
  "post.posted": op(by, Posted, (p, { now }) => [
    ...guard("EXISTS (SELECT 1 FROM posts WHERE local_id = ? AND state = 'intent')", p.localId),
    // A realm that was restored from a backup gives numbers out again: what had this one before is gone.
    sql(
      "UPDATE posts SET state = 'deleted', message_id = NULL, updated_at = ? WHERE message_id = ? AND local_id <> ?",
      now,
      p.messageId,
      p.localId,
    ),
    sql(
      "UPDATE posts SET state = 'posted', message_id = ?, body = '', updated_at = ? WHERE local_id = ?",
      p.messageId,
      now,
      p.localId,
    ),
    sql(
      "UPDATE topics SET last_own_id = MAX(COALESCE(last_own_id, 0), ?) WHERE conversation = ?",
      p.messageId,
      p.conversation,
    ),
  ]),
  "post.failed": op(by, z.object({ localId: z.string() }), ({ localId }, { now }) => [
    sql(
      "UPDATE posts SET state = 'failed', updated_at = ? WHERE local_id = ? AND state = 'intent'",
      now,
      localId,
    ),
  ]),
  "post.deleted": op(by, z.object({ localId: z.string() }), ({ localId }, { now }) => [
    sql("UPDATE posts SET state = 'deleted', updated_at = ? WHERE local_id = ?", now, localId),
  ]),
  "zulip.mark": op(
    by,
    z.object({ realm: z.string(), messageId: z.int() }),
    ({ realm, messageId }, { now }) => [
      sql(
        `INSERT INTO zulip_marks (realm, name, value, at) VALUES (?, 'newest', ?, ?)
       ON CONFLICT (realm, name) DO UPDATE SET value = MAX(value, excluded.value), at = excluded.at`,
        realm,
        messageId,
        now,
      ),
    ],
  ),
  /** The realm is older than what was read of it. */
  "zulip.rewind": op(
    by,
    z.object({ realm: z.string(), messageId: z.int() }),
    ({ realm, messageId }, { now }) => [
      sql(
        "UPDATE zulip_marks SET value = ?, at = ? WHERE realm = ? AND name = 'newest'",
        messageId,
        now,
        realm,
      ),
    ],
  ),
  "zulip.cursor": op(
    by,
    z.object({ realm: z.string(), queueId: z.string(), lastEventId: z.int(), longPollTimeoutMs: z.number() }),
    (cursor, { now }) => [
      sql(
        "INSERT INTO settings (key, value, at) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at",
        `zulip_cursor ${cursor.realm}`,
        JSON.stringify(cursor),
        now,
      ),
    ],
  ),
} as const;
