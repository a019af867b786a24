/**
 * Rules, bypasses, tools, profiles and schedules. Part of `edge/api.ts`.
 */
import * as z from "zod";
import { TraceStep } from "./inbox.ts";

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
  by: z.enum(["rule", "fast_path", "bypass", "default"]),
  ref: z.string(),
  trace: z.array(TraceStep),
});
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;

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
  at: z.int(),
});
export type McpServerView = z.infer<typeof McpServerView>;
export const ToolList = z.object({ tools: z.array(ToolView), servers: z.array(McpServerView) });
export type ToolList = z.infer<typeof ToolList>;

export const ProfileView = z.object({
  id: z.string(),
  name: z.string(),
  brain: z.string(),
  model: z.string().nullable(),
  groupId: z.string(),
  updatedAt: z.int(),
});
export type ProfileView = z.infer<typeof ProfileView>;
export const ProfileList = z.object({ profiles: z.array(ProfileView) });
export type ProfileList = z.infer<typeof ProfileList>;

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
