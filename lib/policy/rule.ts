/**
 * What policy is made of: rules, bypasses, the call that is judged and where it comes from. Types only, and the one question that a rule can be
 * asked: does it cover this call? Proven by `policy_test.ts`.
 */
import { matchesPath } from "./path_pattern.ts";
import type { ProfileTerms } from "./profile.ts";
import { baseName } from "./shell_line.ts";
import { matchesTool, type ToolFacts } from "./tool_pattern.ts";

/** What a rule says. */
export type RuleAction = "allow" | "ask" | "deny";

/** A rule as it is stored. Filters that are null do not filter. Lower `priority` is looked at first, then lower `ordinal`. */
export interface Rule {
  readonly id: string;
  readonly groupId: string;
  readonly layer: "protected" | "normal";
  readonly ordinal: number;
  readonly priority: number;
  readonly action: RuleAction;
  readonly toolPattern: string;
  readonly pathPattern: string | null;
  readonly argvPrefix: readonly string[] | null;
  readonly agent: string | null;
  readonly source: string | null;
  readonly expiresAt: number | null;
  readonly maxUses: number | null;
  readonly uses: number;
  /** A person's words about it. */
  readonly note?: string | null | undefined;
  /** When a person last wrote it, milliseconds since the epoch; absent: before everything. */
  readonly since?: number | undefined;
}

/** Lets one conversation skip questions for a while; never lifts a denial. `pattern` is a tool, a class or a server, by scope. */
export interface Bypass {
  readonly id: string;
  readonly conversation: string;
  readonly scope: "tool" | "category" | "mcp" | "all";
  readonly pattern: string | null;
  readonly uses: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When it was granted, milliseconds since the epoch; absent: before everything. */
  readonly since?: number | undefined;
}

/** A call as the toolbox described it. */
export interface Call extends ToolFacts {
  /** `builtin` or `mcp:<server>`. */
  readonly source: string;
  readonly paths: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** Anything here lies outside the workspace. */
  readonly outside: readonly string[];
  readonly argv?: readonly string[] | undefined;
  /** One command of the line in `argv`; `unreadable` when its words do not say what runs. Set by `judge`. */
  readonly command?: readonly string[] | "unreadable" | undefined;
  /** Nothing stands between the call and the machine: only a person's decision may allow it. */
  readonly askOnce: boolean;
  /** Two people must allow it, so no rule, fast path or bypass does. */
  readonly twoPersons?: boolean | undefined;
  /** False when approval does not know the tool, or knows it with another definition. */
  readonly known: boolean;
  /** What the configuration says of an MCP tool: `prompt` always asks a person, `approve` answers a question that no rule means. */
  readonly mode?: "prompt" | "approve" | undefined;
  /** When a foreign server last changed what the tool is said to do, milliseconds since the epoch. What was allowed before is void. */
  readonly changedAt?: number | undefined;
}

/** Where a call comes from. What is undefined is not known: denials and questions then cover it, allowances do not. */
export interface Context {
  readonly conversation: string;
  readonly agent?: string | undefined;
  readonly source?: "web" | "channel" | "dm" | undefined;
  /** What began the turn. */
  readonly trigger?: "person" | "schedule" | undefined;
  readonly group: string;
  /** What the agent's profile itself says; absent: nothing. */
  readonly profile?: ProfileTerms | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Why a rule does not cover a call, or undefined when it does. */
export function missReason(rule: Rule, call: Call, context: Context): string | undefined {
  const eager = rule.action !== "allow";
  if (rule.expiresAt !== null && rule.expiresAt <= context.now) return "expired";
  if (rule.maxUses !== null && rule.uses >= rule.maxUses) return "used up";
  if (!matchesTool(rule.toolPattern, call)) return "other tool";
  if (!eager && isOutdated(rule.since, call)) return "the tool was changed since";
  if (!agrees(rule.agent, context.agent, eager)) return "other agent";
  if (!agreesSource(rule.source, context, eager)) return "other source";
  if (rule.pathPattern !== null && !coversPaths(rule.pathPattern, call, eager)) return "other path";
  if (rule.argvPrefix !== null && !coversArgv(rule.argvPrefix, call, eager)) return "other command";
  return undefined;
}

/** Whether the rule's time and uses are not over. */
export function isLive(rule: Rule, now: number): boolean {
  return (rule.expiresAt === null || rule.expiresAt > now) &&
    (rule.maxUses === null || rule.uses < rule.maxUses);
}

function agrees(filter: string | null, value: string | undefined, eager: boolean): boolean {
  if (filter === null) return true;
  return value === undefined ? eager : filter === value;
}

/**
 * `zulip` names channels and direct messages together, `schedule` whatever a schedule began, wherever that is. An allowance for a place is meant for
 * the people there, so it does not cover what a schedule began there.
 */
function agreesSource(filter: string | null, { source, trigger }: Context, eager: boolean): boolean {
  if (filter === null) return true;
  if (filter === "schedule") return agrees(filter, trigger, eager);
  if (!eager && trigger === "schedule") return false;
  return agrees(
    filter === "zulip" && source !== undefined && source !== "web" ? source : filter,
    source,
    eager,
  );
}

/** An allowance must cover every path of the call; a denial or a question is called for by any one of them. */
function coversPaths(pattern: string, call: Call, eager: boolean): boolean {
  const covers = (touched: { readonly path: string }) => matchesPath(pattern, touched.path);
  if (eager) return call.paths.some(covers);
  return call.paths.length > 0 && call.paths.every(covers);
}

/**
 * An allowance names the very command, or the whole line. A denial or a question is also met by the program under another path, and by every
 * line that cannot be read.
 */
function coversArgv(prefix: readonly string[], call: Call, eager: boolean): boolean {
  const { argv, command } = call;
  if (argv === undefined) return eager && call.class === "exec";
  if (startsWith(argv, prefix)) return true;
  if (command === undefined) return false;
  if (command === "unreadable") return eager;
  if (startsWith(command, prefix)) return true;
  return eager && startsWith([baseName(command[0] ?? ""), ...command.slice(1)], prefix);
}

/** The paths of the call that the rule's pattern covers. */
export function coveredPaths(rule: Rule, call: Call): readonly string[] {
  const { pathPattern } = rule;
  if (pathPattern === null) return [];
  return call.paths.map(({ path }) => path).filter((path) => matchesPath(pathPattern, path));
}

/** Whether the rule asks about something in particular, be it a tool, a path, a command, an agent or a source. */
export function isParticular(rule: Rule, general: readonly string[] = ["*"]): boolean {
  return !general.includes(rule.toolPattern) || rule.pathPattern !== null || rule.argvPrefix !== null ||
    rule.agent !== null || rule.source !== null;
}

function startsWith(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word);
}

/** Whether a permission was given to the tool as it was before its server changed it. */
function isOutdated(since: number | undefined, call: Call): boolean {
  return call.changedAt !== undefined && (since ?? 0) <= call.changedAt;
}

/** Whether a live bypass covers the call. It is a person's, for what people ask for here while it lasts: no schedule profits from it. */
export function bypassCovers(bypass: Bypass, call: Call, context: Context): boolean {
  if (context.trigger !== "person") return false;
  if (bypass.conversation !== context.conversation || bypass.expiresAt <= context.now) return false;
  if (isOutdated(bypass.since, call)) return false;
  switch (bypass.scope) {
    case "tool":
      return bypass.pattern === call.tool;
    case "category":
      return call.source === "builtin" && bypass.pattern === call.class;
    case "mcp":
      return bypass.pattern !== null && call.source === `mcp:${bypass.pattern}`;
    case "all":
      return true;
    default:
      return bypass.scope satisfies never;
  }
}
