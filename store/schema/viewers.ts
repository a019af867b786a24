/**
 * What viewers follow. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What changed, in order; `seq` is the SSE id. */
export const feed = sqliteTable("feed", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  kind: text("kind").notNull(),
  ref: text("ref").notNull(),
  version: integer("version").notNull(),
  at: integer("at").notNull(),
});

/** Partial answers and the actor tree for remote viewers. */
export const live = sqliteTable("live", {
  ref: text("ref").primaryKey(),
  kind: text("kind").notNull(),
  payload: text("payload").notNull(),
  at: integer("at").notNull(),
});
