/**
 * Rules, bypasses, profiles and tools: reading is from rows, changing is a command to approval, the only writer of policy. 200: carried out.
 * 202: not answered yet, ask `/api/commands/:id`. 503: the supervisor is away and nothing was sent. Proven by `edge/policy_test.ts`.
 */
import { type Context, Hono } from "hono";
import type { PolicyCommand } from "../../actors/protocol/approval.ts";
import { suspension } from "../../store/queries/effects.ts";
import { findBypass, listBypasses, listProfiles, listRules, listTools } from "../../store/queries/policy.ts";
import {
  type BypassList,
  type CommandAccepted,
  type CommandDone,
  type CommandStatus,
  EffectsState,
  type ProfileList,
  RuleInput,
  type RuleList,
  type ToolList,
} from "../api.ts";
import { requireAct, requireRole, requireSight, viewerOf } from "../auth.ts";
import { readBody } from "../body.ts";
import { command } from "../commands.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, statusOf, toApiCode } from "../errors.ts";
import { limitWrites } from "../rate.ts";
import { bypassView, fromJson, given, profileView, ruleView, serverView, toolView } from "../views.ts";

/** `/api/rules`, `/api/bypasses`, `/api/profiles`, `/api/tools`, `/api/effects`. */
export function policyRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/rules", async (c) => {
    requireRole(c, "owner", "approver");
    const { groups, rules } = await listRules(edge.db);
    const named = groups.map(({ id, name, description }) => ({
      id,
      name,
      ...given("description", description),
    }));
    return c.json({ groups: named, rules: rules.map(ruleView) } satisfies RuleList);
  });

  app.post("/rules", async (c) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    const rule = await readBody(c, RuleInput);
    return await change(c, edge, { kind: "rule.create", rule });
  });

  app.delete("/rules/:id", async (c) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    return await change(c, edge, { kind: "rule.delete", id: c.req.param("id") });
  });

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

  app.get("/profiles", async (c) => {
    requireRole(c, "owner", "approver");
    return c.json({ profiles: (await listProfiles(edge.db)).map(profileView) } satisfies ProfileList);
  });

  app.get("/tools", async (c) => {
    requireRole(c, "owner", "approver");
    const { tools, servers } = await listTools(edge.db);
    return c.json({ tools: tools.map(toolView), servers: servers.map(serverView) } satisfies ToolList);
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

/** Sends the change to approval as this person's. */
async function change(
  c: Context<EdgeEnv>,
  edge: Edge,
  wanted: PolicyCommand["command"],
): Promise<Response> {
  const { viewer, userName, deviceId } = c.get("session");
  const by = { userId: viewer.userId, role: viewer.role, name: userName, surface: "web", device: deviceId };
  return answer(
    c,
    await command(edge, { to: "approval", type: "approval.policy", payload: { by, command: wanted } }),
  );
}

/** A command's state as an answer. */
export function answer(c: Context<EdgeEnv>, status: CommandStatus): Response {
  switch (status.state) {
    case "pending":
      return c.json({ command: status.command } satisfies CommandAccepted, 202);
    case "done":
      return c.json({ command: status.command, ...given("id", status.id) } satisfies CommandDone, 200);
    case "failed": {
      const { code, message } = status.error ?? { code: "conflict", message: "The change was refused" };
      return c.json({ error: { code, message } }, statusOf(toApiCode(code)));
    }
    default:
      return status.state satisfies never;
  }
}
