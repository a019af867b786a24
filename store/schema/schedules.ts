/**
 * Schedules and their runs. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Prompts to be sent later or repeatedly. */
export const schedules = sqliteTable("schedules", {
  id: text("id").primaryKey(),
  conversation: text("conversation").notNull(),
  key: text("key").notNull(),
  kind: text("kind", { enum: ["once", "every", "cron"] }).notNull(),
  spec: text("spec").notNull(),
  prompt: text("prompt").notNull(),
  timeZone: text("time_zone").notNull(),
  enabled: integer("enabled").notNull(),
  nextAt: integer("next_at"),
  lastAt: integer("last_at"),
  createdBy: text("created_by").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Planned times that were run or missed, once each. */
export const scheduleRuns = sqliteTable("schedule_runs", {
  schedule: text("schedule").notNull(),
  plannedAt: integer("planned_at").notNull(),
  ranAt: integer("ran_at").notNull(),
  missed: integer("missed").notNull(),
}, (table) => [primaryKey({ columns: [table.schedule, table.plannedAt] })]);
