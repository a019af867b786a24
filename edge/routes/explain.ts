/**
 * `/api/rules/explain`: what policy would say to a call, with every step, asked without making it: by GET for a simple call, by POST for any.
 * Uses the function that judges. Proven by `edge/policy_test.ts` and `edge/rules_test.ts`.
 */
import { type Context as Request, Hono } from "hono";
import * as z from "zod";
import { judge } from "../../lib/policy/judge.ts";
import type { Context } from "../../lib/policy/rule.ts";
import { standingOf } from "../../store/queries/calls.ts";
import { type ExplainAnswer, ExplainRequest } from "../api.ts";
import { requireRole, requireSight, viewerOf } from "../auth.ts";
import { readBody, readQuery } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { bypassesOf, callOf, contextOf, type PolicyRows, policyRows, ToolClass } from "../policy_view.ts";

/** `argv` is one command line without quoting: words between spaces. */
const ExplainQuery = z.strictObject({
  tool: z.string().min(1).max(200),
  path: z.string().min(1).max(1000).optional(),
  access: z.enum(["read", "write"]).default("read"),
  argv: z.string().max(1000).optional(),
  group: z.string().max(100).default("default"),
  agent: z.string().max(200).optional(),
  source: z.enum(["web", "channel", "dm"]).optional(),
  trigger: z.enum(["person", "schedule"]).default("person"),
});

interface Supposed {
  readonly tool: string;
  readonly paths: readonly { readonly path: string; readonly access: "read" | "write" }[];
  readonly argv?: readonly string[] | undefined;
  readonly outside?: boolean;
}

/** The two routes. */
export function explainRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    requireRole(c, "owner", "approver");
    const { tool, path, access, argv, group, agent, source, trigger } = readQuery(c, ExplainQuery);
    const rows = await policyRows(edge);
    const paths = path === undefined ? [] : [{ path, access }];
    const words = argv?.split(" ").filter((word) => word !== "");
    const call = suppose({ tool, paths, argv: words }, rows);
    const standing = contextOf(rows, { profile: agent, source, trigger }, edge.clock.now());
    const context = { ...standing, group };
    return c.json(answer(judge({ rules: rows.rules, bypasses: [] }, call, context)));
  });

  app.post("/", async (c) => {
    requireRole(c, "owner", "approver");
    const wanted = await readBody(c, ExplainRequest);
    const rows = await policyRows(edge);
    const { command, conversation } = wanted;
    const argv = command === undefined ? wanted.argv : ["bash", "-c", command];
    const bypasses = conversation === undefined ? [] : await bypassesOf(edge, viewerOf(c), conversation);
    const context = await place(c, edge, rows, wanted);
    return c.json(
      answer(judge({ rules: rows.rules, bypasses }, suppose({ ...wanted, argv }, rows), context)),
    );
  });

  return app;
}

/** The call as the toolbox would describe it, as far as that is known without its arguments. */
function suppose({ tool, paths, argv, outside }: Supposed, rows: PolicyRows) {
  const known = rows.tools.find((row) => row.name === tool);
  const described = {
    class: ToolClass.catch("mcp").parse(known?.class),
    source: known?.source ?? "unknown",
    paths: paths.map((path) => ({ ...path, exists: true })),
    outside: outside ? ["outside"] : [],
    argv: argv && [...argv],
    askOnce: false,
  };
  return { ...callOf(tool, described, rows), known: known !== undefined };
}

async function place(
  c: Request<EdgeEnv>,
  edge: Edge,
  rows: PolicyRows,
  { conversation, profile, source, trigger, group }: z.output<typeof ExplainRequest>,
): Promise<Context> {
  const standing = conversation === undefined ? undefined : await standingOf(edge.db, conversation);
  if (conversation !== undefined) {
    requireSight(c, standing?.channel_id ?? null, "conversation");
    if (!standing) throw new ApiError("not_found", "There is no such conversation");
  }
  const from = {
    conversation,
    profile: profile ?? standing?.profile,
    source: source ?? standing?.source,
    trigger,
  };
  const context = contextOf(rows, from, edge.clock.now());
  return group === undefined ? context : { ...context, group };
}

function answer({ outcome, by, ref, trace }: ReturnType<typeof judge>): ExplainAnswer {
  return { outcome, by, ref, trace: trace.map((step) => ({ ...step })) };
}
