/**
 * Bypasses, tools and the switch that stops everything: reading is from rows, changing is a command to approval, the only writer of
 * policy. Rules and profiles have their own files. Proven by `edge/policy_test.ts`.
 */
import { Hono } from "hono";
import { gateSettings, suspension } from "../../store/queries/effects.ts";
import { findBypass, listBypasses, listTools } from "../../store/queries/policy.ts";
import { type BypassList, EffectsState, GateSettings, type ToolList } from "../api.ts";
import { requireAct, requireRole, requireSight, viewerOf } from "../auth.ts";
import { readBody } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { requireFresh } from "../fresh.ts";
import { limitWrites } from "../rate.ts";
import { bypassView, fromJson, serverView, toolView } from "../views.ts";

export { answer } from "../change.ts";

/** `/api/bypasses`, `/api/tools`, `/api/gate`, `/api/effects`. */
export function policyRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/bypasses", async (c) => {
    const rows = await listBypasses(edge.db, viewerOf(c), edge.clock.now());
    return c.json({ bypasses: rows.map(bypassView) } satisfies BypassList);
  });

  app.delete("/bypasses/:id", async (c) => {
    const bypass = await findBypass(edge.db, c.req.param("id"), edge.clock.now());
    requireSight(c, bypass?.channel_id ?? null, "bypass");
    if (!bypass) throw new ApiError("not_found", "There is no such bypass");
    requireAct(c, bypass.channel_id, "bypass");
    await limitWrites(c, edge);
    return await change(c, edge, { kind: "bypass.revoke", id: bypass.id });
  });

  app.get("/tools", async (c) => {
    requireRole(c, "owner", "approver");
    const { tools, servers } = await listTools(edge.db);
    return c.json({ tools: tools.map(toolView), servers: servers.map(serverView) } satisfies ToolList);
  });

  app.get("/gate", async (c) => {
    requireRole(c, "owner", "approver");
    const stored = fromJson(await gateSettings(edge.db) ?? "{}");
    return c.json(GateSettings.catch(GateSettings.parse({})).parse(stored));
  });

  app.put("/gate", async (c) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    requireFresh(c, edge);
    return await change(c, edge, { kind: "gate.settings", settings: await readBody(c, GateSettings) });
  });

  app.get("/effects", async (c) => {
    const row = await suspension(edge.db);
    if (row === undefined) return c.json({ suspended: null } satisfies EffectsState);
    // A row that cannot be read still means that effects are suspended.
    const unreadable = { suspended: { by: "unknown", at: 0 } };
    return c.json(EffectsState.catch(unreadable).parse({ suspended: fromJson(row) }));
  });

  for (const verb of ["suspend", "resume"] as const) {
    app.post(`/effects/${verb}`, async (c) => {
      requireRole(c, "owner");
      return await change(c, edge, { kind: `effects.${verb}` });
    });
  }

  return app;
}
