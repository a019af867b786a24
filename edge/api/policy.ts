/**
 * Rules, bypasses, tools and schedules. Part of `edge/api.ts`.
 */
import * as z from "zod";
import { RuleInput, TraceStep } from "./inbox.ts";

export const RuleView = z.object({
  id: z.string(),
  groupId: z.string(),
  layer: z.enum(["protected", "normal"]),
  ordinal: z.int(),
  priority: z.int(),
  action: z.enum(["allow", "ask", "deny"]),
  toolPattern: z.string(),
  pathPattern: z.string().nullable(),
  argvPrefix: z.array(z.string()).nullable(),
  agent: z.string().nullable(),
  source: z.string().nullable(),
  note: z.string().nullable(),
  expiresAt: z.int().nullable(),
  maxUses: z.int().nullable(),
  uses: z.int(),
  lastUsedAt: z.int().nullable(),
  createdBy: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type RuleView = z.infer<typeof RuleView>;

/** `GET /api/rules`: groups and their rules, each group in the order in which rules are looked at. */
export const RuleList = z.object({
  groups: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().optional() })),
  rules: z.array(RuleView),
});
export type RuleList = z.infer<typeof RuleList>;

/** `GET /api/rules/explain?tool=&path=&access=&argv=&group=&agent=&source=`: what policy would say, without any bypass. */
export const ExplainAnswer = z.object({
  outcome: z.enum(["allow", "ask", "deny"]),
  by: z.enum(["rule", "fast_path", "profile", "bypass", "default"]),
  ref: z.string(),
  trace: z.array(TraceStep),
});
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;

/**
 * `POST /api/rules/explain`: a dry run of any call. `command` is a shell line, read as `exec_command` would have it run. `profile` chooses the
 * group and the agent; `conversation` adds its bypasses, profile and source. Nothing is run and nothing recorded. Answer: `ExplainAnswer`.
 */
export const ExplainRequest = z.strictObject({
  tool: z.string().min(1).max(200),
  paths: z.array(z.strictObject({ path: z.string().min(1).max(1000), access: z.enum(["read", "write"]) }))
    .max(50).default([]),
  command: z.string().min(1).max(10_000).optional(),
  argv: z.array(z.string().max(1000)).min(1).max(100).optional(),
  outside: z.boolean().default(false),
  group: z.string().max(100).optional(),
  profile: z.string().max(200).optional(),
  source: z.enum(["web", "channel", "dm"]).optional(),
  /** What began the turn. */
  trigger: z.enum(["person", "schedule"]).default("person"),
  conversation: z.string().max(100).optional(),
});
export type ExplainRequest = z.input<typeof ExplainRequest>;

/** `GET /api/rules/lint`: rules that do not do what they seem to. `by` is the rule that stands before it. */
export const LintFinding = z.object({
  ruleId: z.string(),
  kind: z.enum(["shadowed", "expired", "used_up", "unknown_tool", "unknown_agent", "too_wide", "unsound"]),
  by: z.string().optional(),
  message: z.string(),
});
export type LintFinding = z.infer<typeof LintFinding>;
export const LintList = z.object({ findings: z.array(LintFinding) });
export type LintList = z.infer<typeof LintList>;

/** `POST /api/rules/preview`: what a rule would have matched among the last 50 calls, of those that the caller may see. */
export const PreviewRequest = z.strictObject({ rule: RuleInput });
export type PreviewRequest = z.input<typeof PreviewRequest>;
/** `problem`: why it may not be saved. `matched`: newest first; `outcome` is what the rule would have said to the call. */
export const PreviewAnswer = z.object({
  problem: z.string().optional(),
  examined: z.int(),
  matched: z.array(z.object({
    callId: z.string(),
    conversation: z.object({ id: z.string(), title: z.string() }),
    tool: z.string(),
    summary: z.string(),
    state: z.string(),
    at: z.int(),
  })),
});
export type PreviewAnswer = z.infer<typeof PreviewAnswer>;

/**
 * `GET /api/inbox/:id/rules`: rules that *always* may make of this item, narrowest first; `label` is the exact scope in words. Empty when only
 * *once* is possible. Never one that would allow whatever a shell, an interpreter or a wrapper runs.
 */
export const RuleOffer = z.object({ label: z.string(), rule: z.object(RuleInput.shape) });
export type RuleOffer = z.infer<typeof RuleOffer>;
export const RuleOffers = z.object({ offers: z.array(RuleOffer) });
export type RuleOffers = z.infer<typeof RuleOffers>;

/** `POST /api/rules/order`: the rules of one group in the order in which those of equal priority are to be looked at. */
export const OrderRequest = z.strictObject({
  groupId: z.string().min(1).max(100),
  ids: z.array(z.string().max(100)).min(1).max(1000),
});
export type OrderRequest = z.infer<typeof OrderRequest>;

/** `POST /api/groups` and `PUT /api/groups/:id`. */
export const GroupInput = z.strictObject({
  name: z.string().trim().min(1).max(100),
  description: z.string().max(1000).optional(),
});
export type GroupInput = z.infer<typeof GroupInput>;
/** `POST /api/groups/:id/duplicate`: a new group with copies of the rules. */
export const DuplicateRequest = GroupInput;
export type DuplicateRequest = GroupInput;

/** `GET /api/groups`. `profiles`: ids of those that use it; such a group, and `default`, cannot be deleted. */
export const GroupView = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  rules: z.int(),
  profiles: z.array(z.string()),
});
export type GroupView = z.infer<typeof GroupView>;
export const GroupList = z.object({ groups: z.array(GroupView) });
export type GroupList = z.infer<typeof GroupList>;

/**
 * `GET /api/gate` and `PUT /api/gate` (owner): how the gate treats what waits. Times in seconds; null switches a limit off.
 * `undoSeconds`: how long an allowed call of high risk can be taken back before it begins. `twoPersons`: tool patterns for which one person's *allow* is not enough. `onExpiry`: `reject` ends the call, `park` keeps it waiting,
 * `expiryByTool`: another time and end for calls of single tools, by pattern; the first entry that covers a tool holds.
 * `requesterMayApprove`: whether somebody whose words began the turn, or came into it, may allow its calls.
 * `escalate` hands it on to one person of `escalateTo` (user ids; empty: the owner) after the other, and does `lastResort` at the end. `quietHours`: no
 * reminder and no escalation then, in hours of the day in `timeZone` (IANA name).
 */
export const GateSettings = z.strictObject({
  expirySeconds: z.int().min(60).max(30 * 86_400).default(7 * 86_400),
  onExpiry: z.enum(["reject", "park", "escalate"]).default("reject"),
  expiryByTool: z.array(z.strictObject({
    toolPattern: z.string().min(1).max(200),
    expirySeconds: z.int().min(60).max(30 * 86_400),
    onExpiry: z.enum(["reject", "park", "escalate"]),
  })).max(50).default([]),
  escalateTo: z.array(z.string().min(1).max(100)).max(20).default([]),
  lastResort: z.enum(["reject", "park"]).default("reject"),
  remindSeconds: z.int().min(60).max(30 * 86_400).nullable().default(null),
  quietHours: z.strictObject({ from: z.int().min(0).max(23), to: z.int().min(0).max(23) }).nullable().default(
    null,
  ),
  timeZone: z.string().min(1).max(100).default("UTC"),
  twoPersons: z.array(z.string().min(1).max(200)).max(50).default([]),
  undoSeconds: z.int().min(0).max(300).default(0),
  callsPerMinute: z.int().min(1).max(10_000).nullable().default(120),
  denialsInARow: z.int().min(1).max(1_000).nullable().default(10),
  requesterMayApprove: z.boolean().default(true),
});
export type GateSettings = z.infer<typeof GateSettings>;

export const BypassView = z.object({
  id: z.string(),
  conversation: z.object({ id: z.string(), title: z.string() }),
  scope: z.enum(["tool", "category", "mcp", "all"]),
  pattern: z.string().nullable(),
  grantedBy: z.string(),
  surface: z.string(),
  uses: z.int(),
  createdAt: z.int(),
  expiresAt: z.int(),
});
export type BypassView = z.infer<typeof BypassView>;
export const BypassList = z.object({ bypasses: z.array(BypassView) });
export type BypassList = z.infer<typeof BypassList>;

export const ToolView = z.object({
  name: z.string(),
  source: z.string(),
  class: z.string(),
  description: z.string(),
  parameters: z.unknown(),
  schemaHash: z.string(),
  /** What its MCP server says of it; rules go by it only when `trusted`. */
  hints: z.record(z.string(), z.boolean()).optional(),
  trusted: z.boolean().optional(),
  /** As configured: `prompt` asks always, `approve` answers the question that no rule means. */
  mode: z.enum(["prompt", "approve"]).optional(),
  available: z.boolean(),
  firstSeen: z.int(),
  lastSeen: z.int(),
});
export type ToolView = z.infer<typeof ToolView>;
export const McpServerView = z.object({
  name: z.string(),
  state: z.string(),
  detail: z.string().optional(),
  tools: z.int(),
  unsandboxed: z.boolean(),
  /** What it says of its tools is believed. */
  trusted: z.boolean(),
  at: z.int(),
});
export type McpServerView = z.infer<typeof McpServerView>;
export const ToolList = z.object({ tools: z.array(ToolView), servers: z.array(McpServerView) });
export type ToolList = z.infer<typeof ToolList>;

export const ScheduleSpecView = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("once"), at: z.int() }),
  z.object({ kind: z.literal("every"), everyMs: z.int(), startAt: z.int().optional() }),
  z.object({ kind: z.literal("cron"), expression: z.string() }),
]);
export type ScheduleSpecView = z.infer<typeof ScheduleSpecView>;
export const ScheduleView = z.object({
  id: z.string(),
  conversation: z.object({ id: z.string(), title: z.string() }),
  key: z.string(),
  spec: ScheduleSpecView,
  prompt: z.string(),
  timeZone: z.string(),
  enabled: z.boolean(),
  nextAt: z.int().nullable(),
  lastAt: z.int().nullable(),
  createdBy: z.string(),
});
export type ScheduleView = z.infer<typeof ScheduleView>;
export const ScheduleList = z.object({ schedules: z.array(ScheduleView) });
export type ScheduleList = z.infer<typeof ScheduleList>;

/** `GET /api/effects`: set while nobody's tool calls may begin. `POST /api/effects/suspend` and `…/resume` are the owner's commands. */
export const EffectsState = z.object({ suspended: z.object({ by: z.string(), at: z.int() }).nullable() });
export type EffectsState = z.infer<typeof EffectsState>;
