/**
 * Conversations and what Zulip knows of them. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row per conversation. */
export const conversations = sqliteTable("conversations", {
  id: text("id").primaryKey(),
  title: text("title").notNull(),
  source: text("source").notNull(),
  channelId: integer("channel_id"),
  profile: text("profile").notNull(),
  model: text("model"),
  status: text("status", { enum: ["idle", "running", "waiting", "paused", "parked"] }).notNull(),
  turns: integer("turns").notNull().default(0),
  inputTokens: integer("input_tokens").notNull().default(0),
  outputTokens: integer("output_tokens").notNull().default(0),
  costUsd: real("cost_usd").notNull().default(0),
  preview: text("preview"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  archivedAt: integer("archived_at"),
});

/** Where in Zulip a conversation takes place. */
export const topics = sqliteTable("topics", {
  conversation: text("conversation").primaryKey(),
  realm: text("realm").notNull(),
  kind: text("kind", { enum: ["channel", "dm"] }).notNull(),
  channelId: integer("channel_id"),
  baseTopic: text("base_topic"),
  topic: text("topic"),
  userIds: text("user_ids"),
  lastOwnId: integer("last_own_id"),
  retiredAt: integer("retired_at"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** What is to be posted to Zulip, from intent to settled. */
export const posts = sqliteTable("posts", {
  localId: text("local_id").primaryKey(),
  conversation: text("conversation").notNull(),
  key: text("key").notNull().unique(),
  target: text("target").notNull(),
  body: text("body").notNull(),
  bodyHash: text("body_hash").notNull(),
  queueId: text("queue_id"),
  afterId: integer("after_id").notNull(),
  state: text("state", { enum: ["intent", "posted", "failed", "deleted"] }).notNull(),
  messageId: integer("message_id").unique(),
  sentAt: integer("sent_at"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** How far a realm's messages were read. */
export const zulipMarks = sqliteTable("zulip_marks", {
  realm: text("realm").notNull(),
  name: text("name").notNull(),
  value: integer("value").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.realm, table.name] })]);

/** Webhook deliveries that the edge acknowledged. */
export const webhookReceipts = sqliteTable("webhook_receipts", {
  realm: text("realm").notNull(),
  messageId: integer("message_id").notNull(),
  deliveries: integer("deliveries").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.realm, table.messageId] })]);

/** Files that came with messages; the bytes are on disk. */
export const attachments = sqliteTable("attachments", {
  id: text("id").primaryKey(),
  conversation: text("conversation").notNull(),
  name: text("name").notNull(),
  mime: text("mime").notNull(),
  bytes: integer("bytes").notNull(),
  sha256: text("sha256").notNull(),
  path: text("path").notNull(),
  at: integer("at").notNull(),
});
