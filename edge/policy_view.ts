/**
 * Policy from rows, as the function that judges wants it: the edge asks it questions (*explain*, preview, offers, lint) and decides nothing by
 * the answers. Proven by `edge/policy_test.ts` and `edge/rules_test.ts`.
 */
import * as z from "zod";
import { matchesTool, type ToolFacts } from "../lib/policy/tool_pattern.ts";
import { DEFAULT_GROUP } from "../lib/policy/rule_order.ts";
import type { ProfileBody } from "../lib/profile.ts";
import type { Bypass, Call, Context, Rule } from "../lib/policy/rule.ts";
import {
  listBypasses,
  listProfiles,
  listRules,
  listTools,
  type RuleRow,
  type ToolRow,
} from "../store/queries/policy.ts";
import type { Viewer } from "../store/queries/access.ts";
import { gateSettings } from "../store/queries/effects.ts";
import { type DescribedView, GateSettings, type RuleInput } from "./api.ts";
import type { Edge } from "./deps.ts";
import { fromJson, profileOf, ruleView } from "./views.ts";

/** The kinds of tools that policy knows. */
export const ToolClass = z.enum(["read", "write", "exec", "plan", "schedule", "mcp"]);

/** Everything that policy is made of, at one moment. */
export interface PolicyRows {
  /** Null: one of them cannot be read, so nothing is allowed by any. */
  readonly rules: readonly Rule[] | null;
  /** Tools, by pattern, that two people must allow. */
  readonly twoPersons: readonly string[];
  readonly tools: readonly ToolRow[];
  /** By id. */
  readonly profiles: ReadonlyMap<string, ProfileBody>;
}

/** Reads it. Rejects with `DbError`. */
export async function policyRows(edge: Edge): Promise<PolicyRows> {
  const [{ rules }, { tools }, profiles, gate] = await Promise.all([
    listRules(edge.db),
    listTools(edge.db),
    listProfiles(edge.db),
    gateSettings(edge.db),
  ]);
  const readable = rules.every((row) => row.argv_prefix === null || ruleView(row).argvPrefix !== null);
  return {
    rules: readable ? rules.map(toRule) : null,
    twoPersons: GateSettings.partial().catch({}).parse(fromJson(gate ?? "{}")).twoPersons ?? [],
    tools,
    profiles: new Map(profiles.map((row) => [row.id, profileOf(row)])),
  };
}

/** The bypasses of a conversation that the viewer may see. Rejects with `DbError`. */
export async function bypassesOf(edge: Edge, viewer: Viewer, conversation: string): Promise<Bypass[]> {
  const rows = await listBypasses(edge.db, viewer, edge.clock.now());
  return rows.filter((row) => row.conversation === conversation).map((row) => ({
    id: row.id,
    conversation: row.conversation,
    scope: row.scope,
    pattern: row.pattern,
    uses: row.uses,
    expiresAt: row.expires_at,
    since: row.created_at,
  }));
}

/** A described call as policy sees it. */
export function callOf(
  tool: string,
  described: Pick<DescribedView, "class" | "source" | "paths" | "outside" | "askOnce" | "argv">,
  { tools, twoPersons }: PolicyRows,
): Call {
  const known = tools.find((row) => row.name === tool);
  const facts = factsOf(tool, described, known);
  return {
    ...facts,
    source: described.source,
    paths: described.paths,
    outside: described.outside,
    argv: described.argv,
    askOnce: described.askOnce,
    twoPersons: twoPersons.some((pattern) => matchesTool(pattern, facts)),
    known: known?.available === 1,
    mode: known?.mode ?? undefined,
    changedAt: known?.changed_at ?? undefined,
  };
}

/** A tool as policy sees it: what its server says counts only when the configuration trusts that server. */
export function factsOf(
  tool: string,
  described: Pick<DescribedView, "class">,
  known: ToolRow | undefined,
): ToolFacts {
  const hints = known?.trusted === 1 ? fromJson(known.hints ?? "null") ?? undefined : undefined;
  return { tool, class: described.class, hints: hints as ToolFacts["hints"] }; // `tools.store` wrote them
}

/** The context of a conversation or of a profile that is only thought of. */
export function contextOf(
  { profiles }: PolicyRows,
  place:
    & { conversation?: string | undefined; profile?: string | undefined }
    & Pick<Context, "source" | "trigger">,
  now: number,
): Context {
  const { conversation = "", profile: agent, source, trigger } = place;
  const profile = agent === undefined ? undefined : profiles.get(agent);
  return { conversation, agent, source, trigger, group: profile?.groupId ?? DEFAULT_GROUP, profile, now };
}

/** A rule that somebody thinks of saving. */
export function wouldBe(rule: z.output<typeof RuleInput>, now: number): Rule {
  return { ...rule, id: "preview", layer: "normal", ordinal: 0, uses: 0, since: now };
}

/** A stored rule. */
export function toRule(row: RuleRow): Rule {
  const { createdBy: _, createdAt: __, lastUsedAt: ___, updatedAt, ...rule } = ruleView(row);
  return { ...rule, since: updatedAt };
}
