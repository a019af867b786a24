/** Rules, calls and contexts in one line each, for the tests of policy. */
import { judge, type Policy } from "../../lib/policy/judge.ts";
import type { Bypass, Call, Context, Rule } from "../../lib/policy/rule.ts";

let ordinal = 0;
/** A rule of the default group, each one behind the one before. */
export function rule(toolPattern: string, action: Rule["action"], more: Partial<Rule> = {}): Rule {
  ordinal++;
  return {
    id: `r${ordinal}`,
    groupId: "default",
    layer: "normal",
    ordinal,
    priority: 100,
    action,
    toolPattern,
    pathPattern: null,
    argvPrefix: null,
    agent: null,
    source: null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
    ...more,
  };
}

/** A described call. */
export function call(
  tool: string,
  kind: Call["class"],
  paths: readonly string[] = [],
  more: Partial<Call> = {},
): Call {
  const access = kind === "write" ? "write" : "read";
  return {
    tool,
    class: kind,
    source: "builtin",
    paths: paths.map((path) => ({ path, access })),
    outside: [],
    askOnce: false,
    known: true,
    ...more,
  };
}

/** A person in a web chat. */
export const context: Context = {
  conversation: "c1",
  agent: "default",
  source: "web",
  trigger: "person",
  group: "default",
  now: 1000,
};
/** Calls of the three kinds that most rows are about. */
export const read = (path: string) => call("read_file", "read", [path]);
export const write = (path: string) => call("write_file", "write", [path]);
export const exec = (...argv: string[]) => call("exec_command", "exec", [], { argv });
/** A bypass for whatever the conversation does. */
export const everything: Bypass = {
  id: "b",
  conversation: "c1",
  scope: "all",
  pattern: null,
  uses: 0,
  expiresAt: 2000,
};

/** The rules of a new installation, in short. */
export const seeds: readonly Rule[] = [
  rule("*", "deny", { layer: "protected", pathPattern: "/**/secrets/*" }),
  rule("update_plan", "allow"),
  rule("ask_user", "allow"),
  rule("exec_command", "ask"),
  rule("mcp__*", "ask"),
  rule("*", "ask", { priority: 1_000_000 }),
];

/** What policy says to a call; `more` replaces parts of the context and gives bypasses. */
export function outcome(
  rules: readonly Rule[] | null,
  judged: Call,
  more: Partial<Policy & Context> = {},
): string {
  const { bypasses = [], ...where } = more;
  return judge({ rules, bypasses }, judged, { ...context, ...where }).outcome;
}
