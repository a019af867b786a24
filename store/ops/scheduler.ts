/** Operations of the scheduler on its own tables. It is their only writer, so nothing here needs a guard. */
import * as z from "zod";
import { sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";

const by = ["scheduler"] as const;

const Put = z.object({
  id: z.string(),
  conversation: z.string(),
  key: z.string(),
  kind: z.enum(["once", "every", "cron"]),
  spec: z.unknown(),
  prompt: z.string(),
  timeZone: z.string(),
  nextAt: z.int(),
  createdBy: z.string(),
});

const Ran = z.object({
  id: z.string(),
  plannedAt: z.int(),
  missed: z.int().nonnegative(),
  /** Null: it has run for the last time. */
  nextAt: z.int().nullable(),
});

/** Operations of this subject. */
export const schedulerOps = {
  /** Upserts by (conversation, key); a run that has ended is taken up anew under the new id. */
  "schedule.put": op(by, Put, (input, { now }) => [
    sql(
      `INSERT INTO schedules (id, conversation, key, kind, spec, prompt, time_zone, enabled, next_at, created_by, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET id = excluded.id, kind = excluded.kind,
         spec = excluded.spec, prompt = excluded.prompt, time_zone = excluded.time_zone, enabled = 1, next_at = excluded.next_at,
         created_by = excluded.created_by, updated_at = excluded.updated_at`,
      input.id,
      input.conversation,
      input.key,
      input.kind,
      JSON.stringify(input.spec),
      input.prompt,
      input.timeZone,
      input.nextAt,
      input.createdBy,
      now,
      now,
    ),
    announce("schedule", input.id, 0, now),
  ]),
  "schedule.remove": op(by, z.object({ id: z.string() }), (input, { now }) => [
    sql("DELETE FROM schedules WHERE id = ?", input.id),
    announce("schedule", input.id, 0, now),
  ]),
  "schedule.ran": op(by, Ran, (input, { now }) => [
    sql(
      "INSERT INTO schedule_runs (schedule, planned_at, ran_at, missed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      input.id,
      input.plannedAt,
      now,
      input.missed,
    ),
    sql(
      "UPDATE schedules SET last_at = ?, next_at = ?, enabled = ?, updated_at = ? WHERE id = ?",
      input.plannedAt,
      input.nextAt,
      input.nextAt !== null,
      now,
      input.id,
    ),
    announce("schedule", input.id, 0, now),
  ]),
} as const;
