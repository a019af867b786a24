/**
 * Commits, the lease and settings. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Empty outside a batch: a failing compare-and-set cannot fill its one column. */
export const guard = sqliteTable("guard", {
  ok: integer("ok").notNull(),
});

/** One row per batch, so that a lost answer can be looked up; kept for an hour. Ids rise with time: no other index is needed to find old ones. */
export const commits = sqliteTable("commits", {
  id: text("id").primaryKey(),
  at: integer("at").notNull(),
});

/** Who may write, until when by the database's clock, under which fencing number. */
export const leases = sqliteTable("leases", {
  name: text("name").primaryKey(),
  holder: text("holder").notNull(),
  fence: integer("fence").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Small values of the installation; never a secret. */
export const settings = sqliteTable("settings", {
  key: text("key").primaryKey(),
  value: text("value").notNull(),
  at: integer("at").notNull(),
});
