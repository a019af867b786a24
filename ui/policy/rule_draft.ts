/**
 * A rule while it is written: texts as they stand in the form's fields, and the rule that they make. Pure. Proven by `store/policy_test.ts`.
 */
import type { RuleInput, RuleView } from "../../edge/api.ts";
import type { RuleAction } from "../../lib/policy/rule.ts";
import { policyStrings } from "../strings/policy.ts";

/** When a rule ends; `keep` is only for one that has an end. */
export const expiries = ["never", "keep", "hour", "day", "week", "month"] as const;
export type Expiry = (typeof expiries)[number];

const HOUR_MS = 3_600_000;
const SPANS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS } as const;
const FIRST_PRIORITY = 100;

/** The fields. */
export interface Draft {
  readonly action: RuleAction;
  readonly toolPattern: string;
  readonly pathPattern: string;
  /** One word a line. */
  readonly argvPrefix: string;
  readonly source: string;
  readonly agent: string;
  readonly priority: string;
  readonly maxUses: string;
  readonly expiry: Expiry;
  readonly note: string;
}

/** The fields of a rule, or of a new one. */
export function draftOf(rule: RuleView | undefined, priority: number = FIRST_PRIORITY): Draft {
  return {
    action: rule?.action ?? "ask",
    toolPattern: rule?.toolPattern ?? "",
    pathPattern: rule?.pathPattern ?? "",
    argvPrefix: rule?.argvPrefix?.join("\n") ?? "",
    source: rule?.source ?? "",
    agent: rule?.agent ?? "",
    priority: `${rule?.priority ?? priority}`,
    maxUses: rule?.maxUses == null ? "" : `${rule.maxUses}`,
    expiry: rule?.expiresAt == null ? "never" : "keep",
    note: rule?.note ?? "",
  };
}

interface Place {
  readonly groupId: string;
  readonly rule: RuleView | undefined;
  readonly now: number;
}

/** The rule that the fields make. Numbers that are none become the default or no limit. */
export function ruleOf(draft: Draft, { groupId, rule, now }: Place): RuleInput {
  const words = wordsOf(draft.argvPrefix);
  const priority = Number.parseInt(draft.priority, 10);
  return {
    groupId,
    action: draft.action,
    toolPattern: draft.toolPattern.trim(),
    pathPattern: textOrNull(draft.pathPattern),
    argvPrefix: words.length === 0 ? null : words,
    source: textOrNull(draft.source),
    agent: textOrNull(draft.agent),
    priority: Number.isSafeInteger(priority) ? priority : FIRST_PRIORITY,
    maxUses: limitOf(draft.maxUses),
    expiresAt: draft.expiry === "keep" ? rule?.expiresAt ?? null : expiresAt(draft.expiry, now),
    note: textOrNull(draft.note),
  };
}

/** When a rule ends that is written now, in milliseconds since the epoch; null: never. */
export function expiresAt(expiry: Expiry, now: number): number | null {
  if (expiry === "never" || expiry === "keep") return null;
  // To the minute, so that a preview is not asked anew with every tick.
  return Math.ceil((now + SPANS[expiry]) / 60_000) * 60_000;
}

/** A count; null for what is none. */
export function limitOf(text: string): number | null {
  const limit = Number.parseInt(text, 10);
  return Number.isSafeInteger(limit) && limit > 0 ? limit : null;
}

/** Why a text is no count, in words; an empty one is no limit, but what is none by mistake must not become that. */
export function limitProblem(text: string): string | undefined {
  return text.trim() === "" || /^[1-9]\d{0,8}$/.test(text.trim()) ? undefined : policyStrings.rule.badLimit;
}

/** Words that were written one a line. */
export function wordsOf(lines: string): string[] {
  return lines.split("\n").map((word) => word.trim()).filter((word) => word !== "");
}

function textOrNull(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === "" ? null : trimmed;
}
