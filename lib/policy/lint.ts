/**
 * Rules that do not do what they seem to: hidden behind an earlier one, out of time, for a tool that nobody offers or a profile that is not there, or
 * wider than anybody means.
 * It says only what is certain, so a rule without a finding may still be useless. Pure. Proven by `lint_test.ts`.
 */
import { ruleProblem } from "./check_rule.ts";
import { normalizePattern } from "./path_pattern.ts";
import type { Rule } from "./rule.ts";
import { matchesTool, type ToolFacts } from "./tool_pattern.ts";

/** One finding. `by`: the rule that stands before it. `message` is for the person who keeps the rules. */
export interface Finding {
  readonly ruleId: string;
  readonly kind:
    | "shadowed"
    | "expired"
    | "used_up"
    | "unknown_tool"
    | "unknown_agent"
    | "too_wide"
    | "unsound";
  readonly by?: string;
  readonly message: string;
}

/** What the rules are held against. `now`: milliseconds since the epoch. */
export interface LintContext {
  readonly tools: readonly ToolFacts[];
  /** Ids of all profiles; absent: not known. */
  readonly agents?: readonly string[] | undefined;
  readonly now: number;
}

/** Looks at all rules; findings come in the order of the rules. */
export function lint(rules: readonly Rule[], context: LintContext): Finding[] {
  return rules.flatMap((rule) => findings(rule, rules, context));
}

function findings(rule: Rule, rules: readonly Rule[], { tools, agents, now }: LintContext): Finding[] {
  const found: Finding[] = [];
  const say = (kind: Finding["kind"], message: string, by?: string) =>
    found.push({ ruleId: rule.id, kind, message, ...(by === undefined ? {} : { by }) });

  const problem = ruleProblem(rule);
  if (problem !== undefined) say("unsound", `It could not be saved today: ${problem}`);
  if (rule.expiresAt !== null && rule.expiresAt <= now) {
    say("expired", "Its time is over, so it does nothing");
  }
  if (rule.maxUses !== null && rule.uses >= rule.maxUses) {
    say("used_up", "Its uses are spent, so it does nothing");
  }
  // A pattern may stand ready for servers that are configured later; an exact name is likely a slip.
  const isName = !rule.toolPattern.endsWith("*");
  if (isName && tools.length > 0 && !tools.some((tool) => matchesTool(rule.toolPattern, tool))) {
    const isClass = rule.toolPattern.startsWith("@");
    say(
      "unknown_tool",
      `No tool that is offered now ${isClass ? "belongs to" : "is called"} "${rule.toolPattern}"`,
    );
  }
  if (rule.agent !== null && agents !== undefined && !agents.includes(rule.agent)) {
    say("unknown_agent", `There is no profile "${rule.agent}"`);
  }
  const before = rules.find((other) =>
    other !== rule && standsBefore(other, rule) && hides(other, rule, tools) &&
    !mayOutrank(rule, other, rules)
  );
  if (before) {
    say("shadowed", `Whatever it is about is decided by an earlier rule: ${before.action}`, before.id);
  }
  if (isTooWide(rule)) say("too_wide", "It allows everything that no protected rule denies");
  return found;
}

/** Whether `a` is always looked at before `b`. */
function standsBefore(a: Rule, b: Rule): boolean {
  if (a.layer === "protected") return a.action === "deny" && (b.layer === "normal" || isEarlier(a, b));
  return b.layer === "normal" && a.groupId === b.groupId && isEarlier(a, b);
}

function isEarlier(a: Rule, b: Rule): boolean {
  return a.priority < b.priority || a.priority === b.priority && a.ordinal < b.ordinal;
}

/**
 * Whether `b` may still decide although `a`, which covers all that `b` covers, stands before it: in place of another rule about a path, of the same
 * priority, that stands before `a`. A rule for the very same path is as close and stands first.
 */
function mayOutrank(b: Rule, a: Rule, rules: readonly Rule[]): boolean {
  if (b.pathPattern === null || a.pathPattern !== null) return false;
  return rules.some((other) =>
    other.pathPattern !== null && other.layer === b.layer && other.groupId === b.groupId &&
    other.priority === b.priority && standsBefore(other, a)
  );
}

/** Whether `a` covers whatever `b` covers. An allowance covers less than a denial with the same words, since it must cover all of a call. */
function hides(a: Rule, b: Rule, tools: readonly ToolFacts[]): boolean {
  if (a.expiresAt !== null || a.maxUses !== null) return false;
  const asEager = a.action !== "allow" || b.action === "allow";
  // A call of unknown origin is denied and asked about by such a rule, but never allowed by it.
  if (a.agent !== null && !(asEager && a.agent === b.agent)) return false;
  if (a.source !== null && !(asEager && a.source === b.source)) return false;
  if (!coversTools(a.toolPattern, b.toolPattern, tools)) return false;
  if (a.pathPattern !== null && !(asEager && samePath(a.pathPattern, b.pathPattern))) return false;
  if (a.argvPrefix === null) return true;
  const longer = b.argvPrefix;
  return asEager && longer !== null && a.argvPrefix.every((word, index) => longer[index] === word);
}

function samePath(a: string, b: string | null): boolean {
  return b !== null && normalizePattern(a) === normalizePattern(b);
}

function coversTools(a: string, b: string, tools: readonly ToolFacts[]): boolean {
  if (a === b || a === "*" || a === "@fs_any" && (b === "@fs_read" || b === "@fs_write")) return true;
  if (b.startsWith("@")) return false;
  if (a.startsWith("@")) {
    // Only the class of a tool that is there is known.
    const exact = tools.find((tool) => tool.tool === b);
    return exact !== undefined && matchesTool(a, exact);
  }
  return a.endsWith("*") && b.startsWith(a.slice(0, -1));
}

function isTooWide(rule: Rule): boolean {
  return rule.action === "allow" && rule.toolPattern === "*" && rule.pathPattern === null &&
    rule.argvPrefix === null &&
    rule.agent === null && rule.source === null && rule.expiresAt === null && rule.maxUses === null;
}
