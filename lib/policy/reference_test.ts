/** Proves the judge against a slow and obvious reading of the same policy, over random rules, bypasses, calls and contexts. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { judge } from "./judge.ts";
import { normalizePattern } from "./path_pattern.ts";
import type { Bypass, Call, Context, Rule } from "./rule.ts";
import { shellLine } from "./shell_line.ts";

type Outcome = "allow" | "ask" | "deny";

/** A path pattern as a regular expression, written from the sentence that documents it. */
function pathMatches(pattern: string, path: string): boolean {
  const normal = normalizePattern(pattern);
  if (normal === "/*" || normal === "/**") return true;
  const names = normal.slice(1).split("/");
  const name = (text: string) =>
    [...text].map((each) =>
      each === "*" ? "[^/]*" : each === "?" ? "[^/]" : `\\u{${each.codePointAt(0)?.toString(16)}}`
    )
      .join("");
  const body = (parts: readonly string[]) =>
    parts.map((part) => part === "**" ? "(?:/[^/]+)*" : `/${name(part)}`).join("");
  const last = names.at(-1) ?? "";
  const open = last.endsWith("*") && last !== "**" ? "(?:/.*)?" : "";
  if (last === "*" && new RegExp(`^${body(names.slice(0, -1))}$`, "u").test(path)) return true;
  return new RegExp(`^${body(names)}${open}$`, "u").test(path);
}

function toolMatches(pattern: string, call: Call): boolean {
  if (pattern === "@fs_read") return call.class === "read";
  if (pattern === "@fs_write") return call.class === "write";
  if (pattern === "@fs_any") return call.class === "read" || call.class === "write";
  return pattern.endsWith("*") ? call.tool.startsWith(pattern.slice(0, -1)) : call.tool === pattern;
}

/** One command of the call (or its only one) against one rule. */
function covers(
  rule: Rule,
  call: Call,
  command: readonly string[] | "unreadable" | undefined,
  { agent, source, now }: Context,
): boolean {
  const allow = rule.action === "allow";
  if (rule.expiresAt !== null && now >= rule.expiresAt) return false;
  if (rule.maxUses !== null && rule.uses >= rule.maxUses) return false;
  if (!toolMatches(rule.toolPattern, call)) return false;
  if (allow && call.changedAt !== undefined && (rule.since ?? 0) <= call.changedAt) return false;
  if (rule.agent !== null && (agent === undefined ? allow : agent !== rule.agent)) return false;
  if (rule.source !== null) {
    const accepted = rule.source === "zulip" ? ["channel", "dm"] : [rule.source];
    if (source === undefined ? allow : !accepted.includes(source)) return false;
  }
  if (rule.pathPattern !== null) {
    const hits = call.paths.filter(({ path }) => pathMatches(rule.pathPattern ?? "", path)).length;
    if (hits === 0 || allow && hits < call.paths.length) return false;
  }
  if (rule.argvPrefix !== null) {
    const begins = (words: readonly string[]) =>
      JSON.stringify(words.slice(0, rule.argvPrefix?.length)) === JSON.stringify(rule.argvPrefix);
    const { argv } = call;
    if (argv === undefined) return !allow && call.class === "exec";
    if (begins(argv)) return true;
    if (command === "unreadable") return !allow;
    if (command === undefined) return false;
    if (begins(command)) return true;
    const [program = "", ...words] = command;
    return !allow && begins([program.split("/").at(-1) ?? "", ...words]);
  }
  return true;
}

function obvious(rules: readonly Rule[], bypasses: readonly Bypass[], call: Call, context: Context): Outcome {
  if (call.outside.length > 0) return "deny";
  const line = call.class === "exec" && call.argv ? shellLine(call.argv) : undefined;
  const commands = line === undefined ? [undefined] : line === "unreadable" ? ["unreadable" as const] : line;
  const sorted = [...rules].sort((a, b) => a.priority - b.priority || a.ordinal - b.ordinal);
  const ordered = [
    ...sorted.filter((rule) => rule.layer === "protected" && rule.action === "deny"),
    ...(context.group === "default"
      ? []
      : sorted.filter((rule) => rule.layer === "normal" && rule.groupId === context.group)),
    ...sorted.filter((rule) => rule.layer === "normal" && rule.groupId === "default"),
  ];
  const found = commands.map((command) => ordered.find((rule) => covers(rule, call, command, context)));
  if (found.some((rule) => rule?.action === "deny")) return "deny";
  if (call.askOnce || call.twoPersons || !call.known) return "ask";
  if (found.every((rule) => rule?.action === "allow")) return "allow";
  const asked = found.filter((rule) => rule?.action === "ask");
  const read = call.class === "read" && call.source === "builtin" && call.paths.length > 0 &&
    call.paths.every(({ access }) => access === "read");
  if (read && !asked.some((rule) => rule?.pathPattern !== null)) return "allow";
  const lifted = bypasses.some((bypass) =>
    bypass.conversation === context.conversation && bypass.expiresAt > context.now &&
    !(call.changedAt !== undefined && (bypass.since ?? 0) <= call.changedAt) &&
    (bypass.scope === "all" || bypass.scope === "tool" && bypass.pattern === call.tool ||
      bypass.scope === "category" && call.source === "builtin" && bypass.pattern === call.class ||
      bypass.scope === "mcp" && call.source === `mcp:${bypass.pattern}`)
  );
  return lifted ? "allow" : "ask";
}

const path = fc.constantFrom("/", "/a", "/a/b", "/a/b/c.md", "/ab", "/secrets/k", "/x/secrets/y");
const words = fc.constantFrom(
  ["git", "log"],
  ["git", "push"],
  ["bash", "-c", "git log && ls"],
  ["bash", "-c", "/bin/rm -rf x"],
  ["bash", "-c", "ls | xargs rm"],
  ["bash", "-c", "echo $x"],
);
const rule: fc.Arbitrary<Omit<Rule, "id" | "ordinal">> = fc.record({
  groupId: fc.constantFrom("default", "default", "g", "h"),
  layer: fc.constantFrom("normal", "normal", "normal", "protected"),
  priority: fc.constantFrom(1, 2),
  action: fc.constantFrom("allow", "ask", "deny"),
  toolPattern: fc.constantFrom(
    "*",
    "@fs_any",
    "@fs_read",
    "@fs_write",
    "exec_command",
    "read*",
    "mcp__*",
    "mcp__m__t",
  ),
  pathPattern: fc.constantFrom(null, null, "/a/*", "/a", "/**/secrets/*", "a*", "/**", "/?", "/a/**/c.md"),
  argvPrefix: fc.constantFrom(null, null, ["git"], ["git", "log"], ["rm"], ["ls"], ["bash"]),
  agent: fc.constantFrom(null, null, "a"),
  source: fc.constantFrom(null, null, "web", "zulip", "dm"),
  expiresAt: fc.constantFrom(null, null, 5, 15),
  maxUses: fc.constantFrom(null, 1, 2),
  uses: fc.constantFrom(0, 1),
  since: fc.constantFrom(undefined, 3, 9),
});
const call: fc.Arbitrary<Call> = fc.record({
  at: fc.constantFrom(
    { tool: "read_file", class: "read" as const, source: "builtin" },
    { tool: "write_file", class: "write" as const, source: "builtin" },
    { tool: "exec_command", class: "exec" as const, source: "builtin" },
    { tool: "exec_command", class: "exec" as const, source: "builtin" },
    { tool: "mcp__m__t", class: "mcp" as const, source: "mcp:m" },
  ),
  paths: fc.array(fc.record({ path, access: fc.constantFrom("read" as const, "write" as const) }), {
    maxLength: 2,
  }),
  outside: fc.constantFrom(...Array(9).fill([]), ["/etc"]),
  argv: fc.option(words, { nil: undefined }),
  askOnce: fc.constantFrom(...Array(9).fill(false), true),
  twoPersons: fc.constantFrom(...Array(9).fill(undefined), true),
  known: fc.constantFrom(...Array(9).fill(true), false),
  changedAt: fc.constantFrom(undefined, undefined, 6),
}).map(({ at, ...more }) => ({ ...at, ...more }));
const bypass: fc.Arbitrary<Bypass> = fc.record({
  id: fc.constant("b"),
  conversation: fc.constantFrom("c", "d"),
  scope: fc.constantFrom("tool", "category", "mcp", "all"),
  pattern: fc.constantFrom(null, "exec_command", "exec", "write", "m", "read_file"),
  uses: fc.constant(0),
  expiresAt: fc.constantFrom(5, 15),
  since: fc.constantFrom(undefined, 9),
});
const context: fc.Arbitrary<Context> = fc.record({
  conversation: fc.constant("c"),
  agent: fc.constantFrom(undefined, "a", "b"),
  source: fc.constantFrom(undefined, "web", "channel", "dm"),
  group: fc.constantFrom("default", "g"),
  now: fc.constant(10),
});

Deno.test("the judge says what a slow and obvious reading of the policy says", () => {
  const seen = { allow: 0, ask: 0, deny: 0 };
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 6 }),
      fc.array(bypass, { maxLength: 2 }),
      call,
      context,
      (texts, bypasses, call, context) => {
        const rules = texts.map((text, index) => ({ ...text, id: `r${index}`, ordinal: index }));
        const { outcome } = judge({ rules, bypasses }, call, context);
        seen[outcome]++;
        assert.equal(outcome, obvious(rules, bypasses, call, context));
      },
    ),
    { numRuns: 3_000 },
  );
  assert.ok(Math.min(seen.allow, seen.ask, seen.deny) > 150, `all answers occur: ${JSON.stringify(seen)}`);
});
