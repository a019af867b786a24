/**
 * Reads of schedules, for people. Proven by `edge/policy_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { type Viewer, visible } from "./access.ts";

/** A schedule with its conversation; `spec` is JSON text. */
export interface ScheduleRow {
  readonly id: string;
  readonly conversation: string;
  readonly title: string | null;
  readonly channel_id: number | null;
  readonly key: string;
  readonly spec: string;
  readonly prompt: string;
  readonly time_zone: string;
  readonly enabled: number;
  readonly next_at: number | null;
  readonly last_at: number | null;
  readonly created_by: string;
}

const COLUMNS =
  `SELECT s.id, s.conversation, c.title, c.channel_id, s.key, s.spec, s.prompt, s.time_zone, s.enabled, s.next_at, s.last_at,
  s.created_by FROM schedules s LEFT JOIN conversations c ON c.id = s.conversation`;

/** Schedules that the viewer may see, the next to fire first. Rejects with `DbError`. */
export async function listSchedules(db: Db, viewer: Viewer): Promise<ScheduleRow[]> {
  const may = visible(viewer, "c.channel_id");
  const rows = await db.query(
    sql(
      `${COLUMNS} WHERE ${may.text} ORDER BY s.enabled DESC, s.next_at IS NULL, s.next_at, s.id LIMIT 500`,
      ...may.args,
    ),
  );
  return objects<ScheduleRow>(rows);
}

/** One schedule. Rejects with `DbError`. */
export async function findSchedule(db: Db, id: string): Promise<ScheduleRow | undefined> {
  return objects<ScheduleRow>(await db.query(sql(`${COLUMNS} WHERE s.id = ?`, id)))[0];
}
