/**
 * How a command that was answered with 202 ended. Proven by `edge/policy_test.ts`.
 */
import { Hono } from "hono";
import { requireRole } from "../auth.ts";
import { commandStatus } from "../commands.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";

/** `/api/commands`. Ids are unguessable and say nothing but how it went. */
export function commandRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/:id", async (c) => {
    requireRole(c, "owner", "approver");
    const status = await commandStatus(edge, c.req.param("id"));
    if (!status) throw new ApiError("not_found", "There is no such command");
    return c.json(status);
  });

  return app;
}
