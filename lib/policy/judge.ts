/**
 * Policy as one pure function, used by the judge, by the list of offered tools, by *explain* and by the re-check of a decision. Order:
 * what the profile leaves out → protected denials (all groups) → own group → default group → for a question only: a server's configured mode →
 * reading inside the workspace → writing where the profile allows it → bypass → ask. What lies outside the workspace is denied by this code,
 * whatever the rules say. Unreadable rules, an unknown tool, `askOnce` or the mode `prompt` end at *ask*; nothing ends at *allow* by default. A
 * question that a rule asks about something in particular is meant, so neither the read fast path nor a profile skips it.
 * Proven by `policy_test.ts`.
 */
import { floorRules } from "./floor.ts";
import {
  type Bypass,
  bypassCovers,
  type Call,
  type Context,
  isLive,
  isParticular,
  missReason,
  type Rule,
  type RuleAction,
} from "./rule.ts";
import { leavesOut, mayWrite } from "./profile.ts";
import { areRivals, closest, inOrder, type Placed } from "./rule_order.ts";
import { shellLine } from "./shell_line.ts";
import { matchesTool, type ToolFacts } from "./tool_pattern.ts";

/** Everything policy consists of at one moment; `rules: null` says that they cannot be read. */
export interface Policy {
  readonly rules: readonly Rule[] | null;
  readonly bypasses: readonly Bypass[];
}

/** One step of the reasoning, for the card and for *explain*. */
export interface TraceStep {
  readonly step:
    | "protected"
    | "group"
    | "default"
    | "floor"
    | "command"
    | "mode"
    | "fast_path"
    | "profile"
    | "bypass"
    | "end";
  readonly outcome: string;
  readonly ref?: string;
}

/** The judgement. `by` and `ref` say what decided: a rule's, profile's or bypass's id, or a name of this file's own. */
export interface Verdict {
  readonly outcome: RuleAction;
  readonly by: "rule" | "fast_path" | "profile" | "bypass" | "default";
  readonly ref: string;
  readonly trace: readonly TraceStep[];
}

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
  if (context.profile && leavesOut(context.profile, call)) {
    trace.push({ step: "profile", outcome: "deny: the profile leaves this tool out" });
    return verdict("deny", "profile", context.agent ?? "profile");
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
  if (call.mode === "prompt") {
    trace.push({ step: "mode", outcome: "ask: the tool is configured to be asked for always" });
    return verdict("ask", found ? "rule" : "default", found?.id ?? "mcp_mode");
  }
  if (found?.action === "allow") return verdict("allow", "rule", found.id);
  if (policy.rules === null) return verdict("ask", "default", "rules_unreadable");

  if (isApproved(call, found)) {
    trace.push({ step: "mode", outcome: "allow: the tool is configured as approved" });
    return verdict("allow", "default", "mcp_mode");
  }
  if (isPlainRead(call) && !(found && isParticular(found))) {
    trace.push({ step: "fast_path", outcome: "allow: reads inside the workspace" });
    return verdict("allow", "fast_path", "workspace_read");
  }
  if (context.profile && mayWrite(context.profile, call) && !(found && isParticular(found))) {
    trace.push({ step: "profile", outcome: "allow: the profile may write here" });
    return verdict("allow", "profile", context.agent ?? "profile");
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

/** The deciding rule, or undefined. */
function walk(rules: readonly Rule[], call: Call, context: Context, trace: TraceStep[]): Rule | undefined {
  const placed = inOrder(rules, context.group);
  for (const [index, first] of placed.entries()) {
    const { step, rule } = first;
    const miss = missReason(rule, call, context);
    if (miss === undefined) {
      const closer = closest(first, placed.slice(index + 1), call, context);
      if (closer !== rule) {
        trace.push({ step, outcome: "skipped: another rule names the path more closely", ref: rule.id });
      }
      trace.push({ step, outcome: closer.action, ref: closer.id });
      return closer;
    }
    if (miss !== "other tool" && trace.length < MAX_MISSES) {
      trace.push({ step, outcome: `skipped: ${miss}`, ref: rule.id });
    }
  }
  return undefined;
}

function isPlainRead(call: Call): boolean {
  return call.class === "read" && call.source === "builtin" && call.paths.length > 0 &&
    call.paths.every((touched) => touched.access === "read");
}

/**
 * Whether the configuration answers the question: not where the server has changed the tool, and not where a rule asks about more in particular
 * than all tools of all servers.
 */
function isApproved(call: Call, found: Rule | undefined): boolean {
  if (call.mode !== "approve" || call.class !== "mcp" || call.changedAt !== undefined) return false;
  return !(found && isParticular(found, ["*", "mcp__*"]));
}

/**
 * Whether a model may be told of a tool: not when its profile leaves it out, nor when a denial without any condition is what every call of it would
 * meet. Unreadable rules hide everything.
 */
export function isOffered(policy: Policy, facts: ToolFacts, context: Context): boolean {
  if (policy.rules === null || context.profile && leavesOut(context.profile, facts)) return false;
  const placed = inOrder(policy.rules, context.group)
    .filter(({ rule }) => matchesTool(rule.toolPattern, facts) && isLive(rule, context.now));
  for (const [index, each] of placed.entries()) {
    if (!isParticular({ ...each.rule, toolPattern: "*" })) {
      return each.rule.action !== "deny" || mayBeOutranked(placed, index);
    }
    if (each.rule.action !== "deny") return true;
  }
  return true;
}

/** Whether a rule about a path that stands behind may decide in place of one that stands before, so that some call never meets this rule. */
function mayBeOutranked(placed: readonly Placed[], index: number): boolean {
  const closer = placed.slice(index + 1).filter(({ rule }) => rule.action !== "deny");
  return placed.slice(0, index).some((before) => closer.some((behind) => areRivals(before, behind)));
}
