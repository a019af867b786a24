/**
 * Schedules: list and cancel; the scheduler is their only writer. Proven by `edge/policy_test.ts`.
 */
import { Hono } from "hono";
import { findSchedule, listSchedules } from "../../store/queries/schedules.ts";
import type { ScheduleList } from "../api.ts";
import { requireAct, requireSight, viewerOf } from "../auth.ts";
import { command } from "../commands.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { limitWrites } from "../rate.ts";
import { scheduleView } from "../views.ts";
import { answer } from "../change.ts";

/** `/api/schedules`. */
export function scheduleRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const rows = await listSchedules(edge.db, viewerOf(c));
    return c.json({ schedules: rows.flatMap((row) => scheduleView(row) ?? []) } satisfies ScheduleList);
  });

  app.delete("/:id", async (c) => {
    const row = await findSchedule(edge.db, c.req.param("id"));
    requireSight(c, row?.channel_id ?? null, "schedule");
    if (!row) throw new ApiError("not_found", "There is no such schedule");
    requireAct(c, row.channel_id, "schedule");
    await limitWrites(c, edge);
    const payload = { requestId: edge.newId(), conversation: row.conversation, key: row.key };
    return answer(c, await command(edge, { to: "scheduler", type: "schedule.cancel", payload }));
  });

  return app;
}
