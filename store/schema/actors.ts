/**
 * Actors, their deaths, messages and events. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Every actor that ever lived, asleep or not. */
export const actors = sqliteTable("actors", {
  ref: text("ref").primaryKey(),
  kind: text("kind").notNull(),
  incarnation: integer("incarnation").notNull().default(0),
  restarts: integer("restarts").notNull().default(0),
  downReason: text("down_reason"),
  downDetail: text("down_detail"),
  downAt: integer("down_at"),
  parkedAt: integer("parked_at"),
  parkedReason: text("parked_reason"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Exactly one row per incarnation that ended. */
export const downs = sqliteTable("downs", {
  ref: text("ref").notNull(),
  incarnation: integer("incarnation").notNull(),
  reason: text("reason").notNull(),
  detail: text("detail"),
  suspect: integer("suspect").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.ref, table.incarnation] })]);

/** Durable messages: the mailboxes. */
export const messages = sqliteTable("messages", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  id: text("id").notNull().unique(),
  v: integer("v").notNull(),
  toRef: text("to_ref").notNull(),
  fromRef: text("from_ref").notNull(),
  type: text("type").notNull(),
  lane: integer("lane").notNull(),
  key: text("key"),
  payload: text("payload").notNull(),
  cause: text("cause"),
  traceparent: text("traceparent"),
  at: integer("at").notNull(),
  notBefore: integer("not_before"),
  dedupe: text("dedupe"),
  replaces: text("replaces"),
  state: text("state", { enum: ["queued", "started", "done", "dead"] }).notNull().default("queued"),
  startedAt: integer("started_at"),
  startedIncarnation: integer("started_incarnation"),
  intent: text("intent"),
  failures: integer("failures").notNull().default(0),
  doneAt: integer("done_at"),
});

/** Messages given up on, and what became of them. */
export const deadLetters = sqliteTable("dead_letters", {
  messageId: text("message_id").primaryKey(),
  toRef: text("to_ref").notNull(),
  fromRef: text("from_ref").notNull(),
  type: text("type").notNull(),
  reason: text("reason").notNull(),
  detail: text("detail"),
  failures: integer("failures").notNull(),
  at: integer("at").notNull(),
  settled: text("settled"),
  settledAt: integer("settled_at"),
});

/** The event log of each actor; a conversation's is its transcript. */
export const events = sqliteTable("events", {
  actor: text("actor").notNull(),
  seq: integer("seq").notNull(),
  type: text("type").notNull(),
  payload: text("payload").notNull(),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.actor, table.seq] })]);
