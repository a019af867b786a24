/**
 * Policy as one pure function, used by the judge, by the list of offered tools, by *explain* and by the re-check of a decision. Order:
 * protected denials (all groups) → own group → default group → for a question only: reading inside the workspace → bypass → ask. What lies
 * outside the workspace is denied by this code, whatever the rules say. Unreadable rules, an unknown tool or `askOnce` end at *ask*; nothing
 * ends at *allow* by default. A question that a rule asks about a certain path is meant, so the read fast path does not skip it.
 * Proven by `policy_test.ts`.
 */
import {
  type Bypass,
  bypassCovers,
  type Call,
  type Context,
  missReason,
  type Rule,
  type RuleAction,
} from "./rule.ts";
import { shellLine } from "./shell_line.ts";
import { matchesTool, type ToolFacts } from "./tool_pattern.ts";

/** Everything policy consists of at one moment; `rules: null` says that they cannot be read. */
export interface Policy {
  readonly rules: readonly Rule[] | null;
  readonly bypasses: readonly Bypass[];
}

/** One step of the reasoning, for the card and for *explain*. */
export interface TraceStep {
  readonly step: "protected" | "group" | "default" | "floor" | "command" | "fast_path" | "bypass" | "end";
  readonly outcome: string;
  readonly ref?: string;
}

/** The judgement. `by` and `ref` say what decided: a rule's or bypass's id, or a name of this file's own. */
export interface Verdict {
  readonly outcome: RuleAction;
  readonly by: "rule" | "fast_path" | "bypass" | "default";
  readonly ref: string;
  readonly trace: readonly TraceStep[];
}

/** The group of rules that stands behind every other one. */
export const DEFAULT_GROUP = "default";

/** Protected places, denied when the rules cannot be read; the seeds write the same ones as rules. */
export const secretPatterns = ["/**/secrets/*", "/**/.secrets/*", "/**/.ssh/*", "/**/.gnupg/*"] as const;

const MAX_MISSES = 40;
/** How much of a command the trace shows, in characters. */
const MAX_COMMAND = 200;

/** Judges a call. */
export function judge(policy: Policy, call: Call, context: Context): Verdict {
  const trace: TraceStep[] = [];
  const verdict = (outcome: RuleAction, by: Verdict["by"], ref: string): Verdict => ({
    outcome,
    by,
    ref,
    trace,
  });

  if (call.outside.length > 0) {
    trace.push({ step: "protected", outcome: "deny: outside the workspace", ref: "outside_workspace" });
    return verdict("deny", "default", "outside_workspace");
  }
  const rules = policy.rules ?? floorRules;
  if (policy.rules === null) trace.push({ step: "floor", outcome: "the rules cannot be read" });

  const found = strictest(rules, call, context, trace);
  if (found?.action === "deny") return verdict("deny", "rule", found.id);
  if (call.askOnce) {
    trace.push({ step: "floor", outcome: "ask: no sandbox, so only a person may allow it" });
    return verdict("ask", found ? "rule" : "default", found?.id ?? "ask_once");
  }
  if (call.twoPersons) {
    trace.push({ step: "floor", outcome: "ask: two people must allow this tool" });
    return verdict("ask", found ? "rule" : "default", found?.id ?? "two_persons");
  }
  if (!call.known) {
    trace.push({ step: "floor", outcome: "ask: the tool is unknown or its definition changed" });
    return verdict("ask", found ? "rule" : "default", found?.id ?? "unknown_tool");
  }
  if (found?.action === "allow") return verdict("allow", "rule", found.id);
  if (policy.rules === null) return verdict("ask", "default", "rules_unreadable");

  if (isPlainRead(call) && !(found && found.pathPattern !== null)) {
    trace.push({ step: "fast_path", outcome: "allow: reads inside the workspace" });
    return verdict("allow", "fast_path", "workspace_read");
  }
  const bypass = policy.bypasses.find((candidate) => bypassCovers(candidate, call, context));
  if (bypass) {
    trace.push({ step: "bypass", outcome: `allow: scope ${bypass.scope}`, ref: bypass.id });
    return verdict("allow", "bypass", bypass.id);
  }
  trace.push({ step: "end", outcome: "ask" });
  return found ? verdict("ask", "rule", found.id) : verdict("ask", "default", "ask");
}

/**
 * The deciding rule of a call. A command line is as allowed as the least allowed of its commands: a denial of one denies all, and one that no
 * rule covers leaves the whole line to be asked for.
 */
function strictest(
  rules: readonly Rule[],
  call: Call,
  context: Context,
  trace: TraceStep[],
): Rule | undefined {
  const line = call.class === "exec" && call.argv ? shellLine(call.argv) : [undefined];
  if (line === "unreadable") {
    trace.push({ step: "command", outcome: "the words do not say what runs; only strict rules cover it" });
    return walk(rules, { ...call, command: line }, context, trace);
  }
  let result: { readonly rule: Rule | undefined } | undefined;
  for (const command of line) {
    if (command && line.length > 1 && trace.length < MAX_MISSES) {
      trace.push({ step: "command", outcome: command.join(" ").slice(0, MAX_COMMAND) });
    }
    const rule = walk(rules, command ? { ...call, command } : call, context, trace);
    if (!result || severity(rule) > severity(result.rule)) result = { rule };
    if (rule?.action === "deny") break;
  }
  return result?.rule;
}

function severity(rule: Rule | undefined): number {
  return rule === undefined ? 1 : { allow: 0, ask: 2, deny: 3 }[rule.action];
}

/** The deciding rule, or undefined. Protected rules only ever deny. */
function walk(rules: readonly Rule[], call: Call, context: Context, trace: TraceStep[]): Rule | undefined {
  for (const { step, rule } of inOrder(rules, context.group)) {
    const miss = missReason(rule, call, context);
    if (miss === undefined) {
      trace.push({ step, outcome: rule.action, ref: rule.id });
      return rule;
    }
    if (miss !== "other tool" && trace.length < MAX_MISSES) {
      trace.push({ step, outcome: `skipped: ${miss}`, ref: rule.id });
    }
  }
  return undefined;
}

interface Placed {
  readonly step: "protected" | "group" | "default";
  readonly rule: Rule;
}

function inOrder(rules: readonly Rule[], group: string): Placed[] {
  const layer = (step: Placed["step"], keep: (rule: Rule) => boolean) =>
    rules.filter(keep).sort(byOrder).map((rule) => ({ step, rule }));
  return [
    ...layer("protected", (rule) => rule.layer === "protected" && rule.action === "deny"),
    ...layer("group", (rule) => rule.layer === "normal" && rule.groupId === group && group !== DEFAULT_GROUP),
    ...layer("default", (rule) => rule.layer === "normal" && rule.groupId === DEFAULT_GROUP),
  ];
}

function byOrder(a: Rule, b: Rule): number {
  return a.priority - b.priority || a.ordinal - b.ordinal;
}

function isPlainRead(call: Call): boolean {
  return call.class === "read" && call.source === "builtin" && call.paths.length > 0 &&
    call.paths.every((touched) => touched.access === "read");
}

/**
 * Whether a model may be told of a tool: not when a denial without any condition is what every call of it would meet. Unreadable rules hide
 * everything.
 */
export function isOffered(policy: Policy, facts: ToolFacts, context: Context): boolean {
  if (policy.rules === null) return false;
  for (const { rule } of inOrder(policy.rules, context.group)) {
    if (!matchesTool(rule.toolPattern, facts) || !isLive(rule, context.now)) continue;
    const free = rule.pathPattern === null && rule.argvPrefix === null && rule.agent === null &&
      rule.source === null;
    if (free) return rule.action !== "deny";
    if (rule.action !== "deny") return true;
  }
  return true;
}

function isLive(rule: Rule, now: number): boolean {
  return (rule.expiresAt === null || rule.expiresAt > now) &&
    (rule.maxUses === null || rule.uses < rule.maxUses);
}

const floorRules: readonly Rule[] = secretPatterns.map((pathPattern, ordinal) => ({
  id: `floor_${ordinal}`,
  groupId: DEFAULT_GROUP,
  layer: "protected",
  ordinal,
  priority: 0,
  action: "deny",
  toolPattern: "*",
  pathPattern,
  argvPrefix: null,
  agent: null,
  source: null,
  expiresAt: null,
  maxUses: null,
  uses: 0,
}));
