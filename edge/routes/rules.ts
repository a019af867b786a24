/**
 * Rules and their groups: read from rows, changed by commands to approval; the lint and the preview ask the function that judges. Changing is the
 * owner's alone. Proven by `edge/rules_test.ts`.
 */
import { Hono } from "hono";
import { ruleProblem } from "../../lib/policy/check_rule.ts";
import { judge } from "../../lib/policy/judge.ts";
import { lint } from "../../lib/policy/lint.ts";
import { recentCalls } from "../../store/queries/calls.ts";
import { listProfiles, listRules } from "../../store/queries/policy.ts";
import {
  DescribedView,
  DuplicateRequest,
  GroupInput,
  type GroupList,
  type LintList,
  OrderRequest,
  type PreviewAnswer,
  PreviewRequest,
  RuleInput,
  type RuleList,
} from "../api.ts";
import { requireRole, viewerOf } from "../auth.ts";
import { readBody } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { requireFresh } from "../fresh.ts";
import { callOf, factsOf, policyRows, ToolClass, wouldBe } from "../policy_view.ts";
import { limitWrites } from "../rate.ts";
import { fromJson, given, ruleView } from "../views.ts";

/** How many calls a preview looks at. */
const PREVIEW_CALLS = 50;

/** `/api/rules` and `/api/groups`. */
export function ruleRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();
  for (const path of ["/rules", "/rules/*", "/groups", "/groups/*"]) {
    app.use(path, async (c, next) => {
      const asks = c.req.method === "GET" || c.req.method === "POST" && c.req.path.endsWith("/rules/preview");
      if (asks) requireRole(c, "owner", "approver");
      else requireRole(c, "owner");
      if (!asks) {
        await limitWrites(c, edge);
        requireFresh(c, edge);
      }
      await next();
    });
  }
  readRules(app, edge);

  app.post("/rules", async (c) => {
    return await change(c, edge, { kind: "rule.create", rule: await readBody(c, RuleInput) });
  });
  app.post("/rules/order", async (c) => {
    return await change(c, edge, { kind: "rule.order", ...await readBody(c, OrderRequest) });
  });
  app.put("/rules/:id", async (c) => {
    const rule = await readBody(c, RuleInput);
    return await change(c, edge, { kind: "rule.update", id: c.req.param("id"), rule });
  });
  app.delete("/rules/:id", async (c) => {
    return await change(c, edge, { kind: "rule.delete", id: c.req.param("id") });
  });
  app.post("/groups", async (c) => {
    return await change(c, edge, { kind: "group.create", ...await readBody(c, GroupInput) });
  });
  app.post("/groups/:id/duplicate", async (c) => {
    const named = await readBody(c, DuplicateRequest);
    return await change(c, edge, { kind: "group.create", ...named, copyOf: c.req.param("id") });
  });
  app.put("/groups/:id", async (c) => {
    return await change(c, edge, {
      kind: "group.update",
      id: c.req.param("id"),
      ...await readBody(c, GroupInput),
    });
  });
  app.delete("/groups/:id", async (c) => {
    return await change(c, edge, { kind: "group.delete", id: c.req.param("id") });
  });
  return app;
}

function readRules(app: Hono<EdgeEnv>, edge: Edge): void {
  app.get("/rules", async (c) => {
    const { groups, rules } = await listRules(edge.db);
    const named = groups.map(({ id, name, description }) => ({
      id,
      name,
      ...given("description", description),
    }));
    return c.json({ groups: named, rules: rules.map(ruleView) } satisfies RuleList);
  });

  app.get("/groups", async (c) => {
    const [{ groups, rules }, profiles] = await Promise.all([listRules(edge.db), listProfiles(edge.db)]);
    const views = groups.map(({ id, name, description }) => ({
      id,
      name,
      ...given("description", description),
      rules: rules.filter((rule) => rule.group_id === id).length,
      profiles: profiles.filter((profile) => profile.group_id === id).map((profile) => profile.id),
    }));
    return c.json({ groups: views } satisfies GroupList);
  });

  app.get("/rules/lint", async (c) => {
    const { rules, tools, profiles } = await policyRows(edge);
    const offered = tools.filter((tool) => tool.available === 1)
      .map((tool) => factsOf(tool.name, { class: ToolClass.catch("mcp").parse(tool.class) }, tool));
    const context = { tools: offered, agents: [...profiles.keys()], now: edge.clock.now() };
    return c.json({ findings: lint(rules ?? [], context) } satisfies LintList);
  });

  app.post("/rules/preview", async (c) => {
    const { rule } = await readBody(c, PreviewRequest);
    const now = edge.clock.now();
    const [rows, calls] = await Promise.all([
      policyRows(edge),
      recentCalls(edge.db, viewerOf(c), PREVIEW_CALLS),
    ]);
    const policy = { rules: [wouldBe(rule, now)], bypasses: [] };
    const matched = calls.flatMap((row) => {
      const described = DescribedView.safeParse(fromJson(row.described)).data;
      if (!described) return [];
      // Alone in its group: what is asked is what it covers, not what stands before it.
      const context = {
        conversation: row.conversation,
        agent: row.profile,
        source: row.source,
        trigger: row.triggered_by,
        group: rule.groupId,
        now,
      };
      if (judge(policy, { ...callOf(row.tool, described, rows), known: true }, context).ref !== "preview") {
        return [];
      }
      const conversation = { id: row.conversation, title: row.title };
      const { summary } = described;
      return [{
        callId: row.id,
        conversation,
        tool: row.tool,
        summary,
        state: row.state,
        at: row.created_at,
      }];
    });
    const answer = { examined: calls.length, matched, ...given("problem", ruleProblem(rule)) };
    return c.json(answer satisfies PreviewAnswer);
  });
}
