/** What the scheduler restores itself from: every schedule that has a next run. */
import { objects, sql } from "../db.ts";
import type { Load } from "../read.ts";

/** One schedule; `spec` is parsed JSON. Times are milliseconds since the epoch. */
export interface LoadedSchedule {
  readonly id: string;
  readonly conversation: string;
  readonly key: string;
  readonly spec: unknown;
  readonly prompt: string;
  readonly timeZone: string;
  readonly nextAt: number;
}

/** Gives `{ schedules }`. */
export const loadScheduler: Load = async (db) => {
  const rows = await db.query(sql(
    `SELECT id, conversation, key, spec, prompt, time_zone AS timeZone, next_at AS nextAt FROM schedules
     WHERE enabled = 1 AND next_at IS NOT NULL ORDER BY next_at`,
  ));
  const schedules = objects<LoadedSchedule & { spec: string }>(rows);
  return { schedules: schedules.map((row) => ({ ...row, spec: JSON.parse(row.spec) })) };
};
