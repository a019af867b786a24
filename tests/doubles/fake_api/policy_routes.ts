/**
 * Policy over HTTP without approval behind it: rules are changed in memory and judged by the product's own functions, everything else answers from
 * samples. Every change is carried out at once.
 */
import { Hono } from "hono";
import {
  type AuditList,
  type AuditVerdict,
  type DeadLetterView,
  ExplainRequest,
  GateSettings,
  GroupInput,
  OrderRequest,
  PreviewRequest,
  ProfileChange,
  ProfileInput,
  RuleInput,
  type RuleView,
} from "../../../edge/api.ts";
import { ruleProblem } from "../../../lib/policy/check_rule.ts";
import { judge } from "../../../lib/policy/judge.ts";
import { lint } from "../../../lib/policy/lint.ts";
import { factsOf, inputOf } from "../../../ui/store/rule_sections.ts";
import {
  sampleAudit,
  sampleBypasses,
  sampleGroups,
  sampleProfiles,
  sampleRule,
  sampleRules,
  sampleSchedules,
  sampleTools,
} from "./policy_samples.ts";

/** Entries of the log a page. */
const AUDIT_PAGE = 4;

/** What a test may turn. */
export interface FakePolicy {
  /** Told of every change that streams announce. */
  readonly announce: (kind: "policy" | "schedule") => void;
  readonly isEmpty: () => boolean;
  /** Where the chain breaks. */
  readonly brokenAt: () => number | undefined;
}

/** `/api/rules` and everything beside it. */
export function fakePolicyRoutes({ announce, isEmpty, brokenAt }: FakePolicy): Hono {
  const now = Date.now();
  const groups = new Map<string, GroupInput & { id: string }>(
    sampleGroups().map((group) => [group.id, group]),
  );
  const rules = new Map(sampleRules(now).map((rule) => [rule.id, rule]));
  const profiles = new Map(sampleProfiles(now).map((profile) => [profile.id, profile]));
  const bypasses = new Map(sampleBypasses(now).map((bypass) => [bypass.id, bypass]));
  const schedules = new Map(sampleSchedules(now).map((schedule) => [schedule.id, schedule]));
  const letters = new Map(sampleLetters(now).map((letter) => [letter.id, letter]));
  const tools = sampleTools(now);
  let suspended: { by: string; at: number } | null = null;
  let gate = GateSettings.parse({ twoPersons: ["mcp__mail__*"] });
  let ids = 0;
  const app = new Hono();
  const shown = <Value>(map: ReadonlyMap<string, Value>) => isEmpty() ? [] : [...map.values()];
  const done = (id?: string) => {
    announce("policy");
    return Response.json({ command: `x${++ids}`, ...(id === undefined ? {} : { id }) });
  };
  const put = (id: string, input: RuleInput) => {
    const old = rules.get(id) ?? sampleRule(id, Date.now(), { ordinal: 100 + ids, createdBy: "Ada" });
    rules.set(id, { ...old, ...RuleInput.parse(input) });
    return done(id);
  };

  app.get("/rules", (c) => c.json({ groups: [...groups.values()], rules: shown(rules) }));
  app.get("/groups", (c) =>
    c.json({
      groups: [...groups.values()].map((group) => ({
        ...group,
        rules: [...rules.values()].filter((rule) => rule.groupId === group.id).length,
        profiles: [...profiles.values()].filter(({ groupId }) => groupId === group.id).map(({ id }) => id),
      })),
    }));
  app.get(
    "/rules/lint",
    (c) => c.json({ findings: lint([...rules.values()], { tools: tools.map(factsOf), now }) }),
  );
  app.post("/rules/explain", async (c) => {
    const { tool, paths = [], command, group = "default", source, trigger } = ExplainRequest.parse(
      await c.req.json(),
    );
    const found = tools.find(({ name }) => name === tool);
    const argv = command === undefined ? undefined : ["bash", "-c", command];
    const facts = found ? factsOf(found) : { tool, class: "mcp" as const };
    const place = { source: found?.source ?? "unknown", paths, outside: [], argv };
    const call = { ...facts, ...place, askOnce: false, known: found !== undefined };
    return c.json(
      judge({ rules: [...rules.values()], bypasses: [] }, call, {
        conversation: "",
        group,
        source,
        trigger,
        now,
      }),
    );
  });
  app.post("/rules/preview", async (c) => {
    const { rule } = PreviewRequest.parse(await c.req.json());
    const { action, toolPattern, pathPattern = null, argvPrefix = null } = rule;
    const problem = ruleProblem({ action, toolPattern, pathPattern, argvPrefix });
    const call = {
      conversation: { id: "c1", title: "ops > nightly backup" },
      tool: "exec_command",
      state: "finished",
    };
    const matched = [
      { callId: "k1", ...call, summary: "Run: git status --short", at: now - 9 * 60_000 },
      { callId: "k2", ...call, summary: "Run: git status", at: now - 3_600_000 },
    ];
    return c.json({ examined: 50, matched, ...(problem === undefined ? {} : { problem }) });
  });
  app.post("/rules/order", async (c) => {
    const { ids: named } = OrderRequest.parse(await c.req.json());
    const ordinals = named.map((id) => rules.get(id)?.ordinal ?? 0).sort((a, b) => a - b);
    for (const [index, id] of named.entries()) {
      const rule = rules.get(id);
      if (rule) rules.set(id, { ...rule, ordinal: ordinals[index] ?? 0 });
    }
    return done();
  });
  app.post("/rules", async (c) => put(`new${++ids}`, RuleInput.parse(await c.req.json())));
  app.put("/rules/:id", async (c) => put(c.req.param("id"), RuleInput.parse(await c.req.json())));
  app.delete("/rules/:id", (c) => {
    rules.delete(c.req.param("id"));
    return done();
  });
  app.post("/groups", async (c) => {
    const id = `group${++ids}`;
    groups.set(id, { id, ...GroupInput.parse(await c.req.json()) });
    return done(id);
  });
  app.put("/groups/:id", async (c) => {
    groups.set(c.req.param("id"), { id: c.req.param("id"), ...GroupInput.parse(await c.req.json()) });
    return done();
  });
  app.post("/groups/:id/duplicate", async (c) => {
    const id = `group${++ids}`;
    groups.set(id, { id, ...GroupInput.parse(await c.req.json()) });
    for (const rule of copies([...rules.values()], c.req.param("id"))) {
      put(`copy${++ids}`, { ...rule, groupId: id });
    }
    return done(id);
  });
  app.delete("/groups/:id", (c) => {
    groups.delete(c.req.param("id"));
    return done();
  });
  app.get("/tools", (c) => c.json({ tools, servers: [] }));
  app.get("/profiles", (c) => c.json({ profiles: shown(profiles) }));
  app.post("/profiles", async (c) => {
    const id = `profile${++ids}`;
    const input = ProfileInput.parse(await c.req.json());
    profiles.set(id, { id, ...input, brain: "builtin", isUsed: false, updatedAt: Date.now() });
    return done(id);
  });
  app.patch("/profiles/:id", async (c) => {
    const profile = profiles.get(c.req.param("id"));
    const changes = ProfileChange.parse(await c.req.json());
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    if (profile) profiles.set(profile.id, { ...profile, ...given });
    return done();
  });
  app.delete("/profiles/:id", (c) => {
    profiles.delete(c.req.param("id"));
    return done();
  });
  app.put("/conversations/:id/profile", () => done());
  app.get("/bypasses", (c) => c.json({ bypasses: shown(bypasses) }));
  app.delete("/bypasses/:id", (c) => {
    bypasses.delete(c.req.param("id"));
    return done();
  });
  app.get("/schedules", (c) => c.json({ schedules: shown(schedules) }));
  app.delete("/schedules/:id", (c) => {
    schedules.delete(c.req.param("id"));
    announce("schedule");
    return c.json({ command: "x0" });
  });
  app.get("/gate", (c) => c.json(gate));
  app.put("/gate", async (c) => {
    gate = GateSettings.parse(await c.req.json());
    return done();
  });
  app.get("/effects", (c) => c.json({ suspended }));
  app.post("/effects/suspend", () => {
    suspended = { by: "Ada", at: Date.now() };
    return done();
  });
  app.post("/effects/resume", () => {
    suspended = null;
    return done();
  });
  app.get("/audit", (c) => {
    const after = Number(c.req.query("after") ?? 0);
    const before = Number(c.req.query("before") ?? Infinity);
    const found = sampleAudit(now).filter(({ seq }) => seq > after && seq < before).reverse();
    const entries = isEmpty() ? [] : found.slice(0, AUDIT_PAGE);
    const next = entries.length < found.length ? entries.at(-1)?.seq : undefined;
    return c.json({ entries, ...(next === undefined ? {} : { next }) } satisfies AuditList);
  });
  app.get("/audit/verify", (c) => {
    const broken = brokenAt();
    const verdict = { ok: broken === undefined, entries: 5 };
    return c.json(
      { ...verdict, ...(broken === undefined ? {} : { brokenAt: broken }) } satisfies AuditVerdict,
    );
  });
  app.post("/audit/:seq/revert", () => done());
  app.get("/dead-letters", (c) => c.json({ deadLetters: shown(letters) }));
  app.post("/dead-letters/:id/:how", (c) => {
    letters.delete(c.req.param("id"));
    return c.json({ command: "x0" });
  });
  return app;
}

function copies(rules: readonly RuleView[], groupId: string): RuleInput[] {
  return rules.filter((rule) => rule.groupId === groupId && rule.layer === "normal").map(inputOf);
}

function sampleLetters(now: number): DeadLetterView[] {
  return [{
    id: "d1",
    to: "conversation/c4",
    from: "zulip",
    type: "user.message",
    reason: "poison",
    detail: "RangeError: Invalid array length",
    failures: 3,
    at: now - 50 * 60_000,
  }];
}
