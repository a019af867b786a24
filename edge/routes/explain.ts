/**
 * `GET /api/rules/explain`: what policy would say to a call, with every step, asked without making it. Uses the function that judges.
 * Proven by `edge/policy_test.ts`.
 */
import { Hono } from "hono";
import * as z from "zod";
import { judge } from "../../lib/policy/judge.ts";
import type { Rule } from "../../lib/policy/rule.ts";
import { listRules, listTools, type RuleRow } from "../../store/queries/policy.ts";
import type { ExplainAnswer } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readQuery } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ruleView } from "../views.ts";

/** `argv` is one command line without quoting: words between spaces. */
const ExplainQuery = z.strictObject({
  tool: z.string().min(1).max(200),
  path: z.string().min(1).max(1000).optional(),
  access: z.enum(["read", "write"]).default("read"),
  argv: z.string().max(1000).optional(),
  group: z.string().max(100).default("default"),
  agent: z.string().max(200).optional(),
  source: z.enum(["web", "channel", "dm"]).optional(),
});

const ToolClass = z.enum(["read", "write", "exec", "plan", "schedule", "mcp"]);

/** The one route. Bypasses are left out: they belong to one conversation. */
export function explainRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    requireRole(c, "owner", "approver");
    const query = readQuery(c, ExplainQuery);
    const { rules } = await listRules(edge.db);
    const known = (await listTools(edge.db)).tools.find((tool) => tool.name === query.tool);
    const call = {
      tool: query.tool,
      class: ToolClass.catch("mcp").parse(known?.class),
      source: known?.source ?? "unknown",
      paths: query.path === undefined ? [] : [{ path: query.path, access: query.access }],
      outside: [],
      argv: query.argv?.split(" ").filter((word) => word !== ""),
      askOnce: false,
      known: known !== undefined,
    };
    const { group, agent, source } = query;
    const context = { conversation: "", group, agent, source, now: edge.clock.now() };
    const { outcome, by, ref, trace } = judge({ rules: rules.map(toRule), bypasses: [] }, call, context);
    const steps = trace.map((step) => ({ ...step }));
    return c.json({ outcome, by, ref, trace: steps } satisfies ExplainAnswer);
  });

  return app;
}

function toRule(row: RuleRow): Rule {
  const { id, groupId, layer, ordinal, priority, action, toolPattern, pathPattern, argvPrefix, ...rest } =
    ruleView(row);
  const { agent, source, expiresAt, maxUses, uses } = rest;
  const place = { id, groupId, layer, ordinal, priority, action };
  return { ...place, toolPattern, pathPattern, argvPrefix, agent, source, expiresAt, maxUses, uses };
}
