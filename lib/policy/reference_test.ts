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
  const harmless = call.hints?.readOnly === true;
  if (pattern === "@mcp_read_only") return call.class === "mcp" && harmless;
  if (pattern === "@mcp_destructive") {
    return call.class === "mcp" && !(harmless || call.hints?.destructive === false);
  }
  if (pattern === "@mcp_open_world") return call.class === "mcp" && !(call.hints?.openWorld === false);
  return pattern.endsWith("*") ? call.tool.startsWith(pattern.slice(0, -1)) : call.tool === pattern;
}

/** One command of the call (or its only one) against one rule. */
function covers(
  rule: Rule,
  call: Call,
  command: readonly string[] | "unreadable" | undefined,
  { agent, source, trigger, now }: Context,
): boolean {
  const allow = rule.action === "allow";
  if (rule.expiresAt !== null && now >= rule.expiresAt) return false;
  if (rule.maxUses !== null && rule.uses >= rule.maxUses) return false;
  if (!toolMatches(rule.toolPattern, call)) return false;
  if (allow && call.changedAt !== undefined && (rule.since ?? 0) <= call.changedAt) return false;
  if (rule.agent !== null && (agent === undefined ? allow : agent !== rule.agent)) return false;
  if (rule.source === "schedule") {
    if (trigger === undefined ? allow : trigger !== "schedule") return false;
  } else if (rule.source !== null) {
    if (allow && trigger === "schedule") return false;
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

/** The pieces of a pattern before its first wildcard, and whether there is none. */
function closeness(pattern: string): number {
  const [literal = ""] = normalizePattern(pattern).split(/[*?]/);
  const whole = literal === normalizePattern(pattern);
  const pieces = literal.split("/").filter((piece) => piece !== "").length;
  return whole ? pieces + 0.5 : literal.endsWith("/") ? pieces : pieces - 1;
}

/** The first rule that covers; about paths, the one that names all of those paths most closely among its equals. */
function deciding(ordered: readonly Rule[], covering: (rule: Rule) => boolean, call: Call): Rule | undefined {
  const all = ordered.filter(covering);
  const [first] = all;
  if (first === undefined || first.pathPattern === null) return first;
  const named = (rule: Rule) => call.paths.filter(({ path }) => pathMatches(rule.pathPattern ?? "", path));
  const equals = all.filter((rule) =>
    rule.pathPattern !== null && rule.layer === first.layer && rule.priority === first.priority &&
    (rule.layer === "protected" || rule.groupId === first.groupId) &&
    named(first).every((path) => named(rule).includes(path))
  );
  const best = Math.max(...equals.map((rule) => closeness(rule.pathPattern ?? "")));
  return equals.find((rule) => closeness(rule.pathPattern ?? "") === best);
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
  const found = commands.map((command) =>
    deciding(ordered, (rule) => covers(rule, call, command, context), call)
  );
  if (found.some((rule) => rule?.action === "deny")) return "deny";
  if (call.askOnce || call.twoPersons || !call.known || call.mode === "prompt") return "ask";
  if (found.every((rule) => rule?.action === "allow")) return "allow";
  const asked = found.filter((rule) => rule?.action === "ask");
  const names = (rule: Rule | undefined, general: readonly string[]) =>
    rule !== undefined && (!general.includes(rule.toolPattern) ||
      [rule.pathPattern, rule.argvPrefix, rule.agent, rule.source].some((filter) => filter !== null));
  const [asking] = asked;
  if (
    call.mode === "approve" && call.class === "mcp" && call.changedAt === undefined &&
    !names(asking, ["*", "mcp__*"])
  ) return "allow";
  const read = call.class === "read" && call.source === "builtin" && call.paths.length > 0 &&
    call.paths.every(({ access }) => access === "read");
  if (read && !names(asking, ["*"])) return "allow";
  const lifted = context.trigger === "person" &&
    bypasses.some((bypass) =>
      bypass.conversation === context.conversation && bypass.expiresAt > context.now &&
      !(call.changedAt !== undefined && (bypass.since ?? 0) <= call.changedAt) &&
      (bypass.scope === "all" || bypass.scope === "tool" && bypass.pattern === call.tool ||
        bypass.scope === "category" && call.source === "builtin" && bypass.pattern === call.class ||
        bypass.scope === "mcp" && call.source === `mcp:${bypass.pattern}`)
    );
  return lifted ? "allow" : "ask";
}

/** Mostly the plain value: a case in which every filter is set meets nothing, and proves nothing. */
function mostly<T>(plain: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(plain) }, {
    weight: 1,
    arbitrary: fc.constantFrom(...others),
  });
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
  groupId: mostly("default", "g", "g", "h"),
  layer: mostly("normal", "protected"),
  priority: mostly(1, 2),
  action: fc.constantFrom("allow", "ask", "deny"),
  toolPattern: fc.oneof(
    fc.constantFrom("*", "@fs_any", "@fs_read"),
    fc.constantFrom("@fs_write", "exec_command", "read*", "read_file", "mcp__*", "mcp__m__t"),
    fc.constantFrom("@mcp_read_only", "@mcp_destructive", "@mcp_open_world"),
  ),
  pathPattern: fc.constantFrom(
    ...[null, null, null, "/a/*", "/a", "/a/b/*", "/a/b", "/**/secrets/*", "a*", "/**", "/?", "/a/**/c.md"],
  ),
  argvPrefix: mostly<string[] | null>(null, ["git"], ["git", "log"], ["rm"], ["ls"], ["bash"]),
  agent: mostly<string | null>(null, "a"),
  source: mostly<string | null>(null, "web", "zulip", "dm", "schedule"),
  expiresAt: mostly<number | null>(null, 5, 15),
  maxUses: mostly<number | null>(null, 1, 2),
  uses: fc.constantFrom(0, 1),
  since: fc.constantFrom(undefined, 3, 9),
});
const call: fc.Arbitrary<Call> = fc.record({
  at: fc.constantFrom(
    { tool: "read_file", class: "read" as const, source: "builtin", access: "read" as const },
    { tool: "write_file", class: "write" as const, source: "builtin", access: "write" as const },
    { tool: "exec_command", class: "exec" as const, source: "builtin", access: "read" as const },
    { tool: "mcp__m__t", class: "mcp" as const, source: "mcp:m", access: "read" as const },
  ),
  paths: fc.array(fc.record({ path, odd: mostly(false, true) }), { maxLength: 2 }),
  outside: mostly<string[]>([], ["/etc"]),
  argv: fc.option(words, { nil: undefined }),
  askOnce: mostly(false, true),
  twoPersons: mostly<boolean | undefined>(undefined, true),
  known: mostly(true, false),
  changedAt: mostly<number | undefined>(undefined, 6),
  mode: mostly<Call["mode"]>(undefined, "prompt", "approve", "approve"),
  hints: fc.constantFrom(undefined, { readOnly: true }, { destructive: false, openWorld: false }, {}),
}).map(({ at: { access, ...facts }, paths, ...more }) => ({
  ...facts,
  ...more,
  paths: paths.map(({ path, odd }) => ({ path, access: odd ? "write" : access })),
}));
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
  trigger: fc.constantFrom("person", "person", "schedule", undefined),
  group: fc.constantFrom("default", "g"),
  now: fc.constant(10),
});

Deno.test("the judge says what a slow and obvious reading of the policy says", () => {
  const seen = { allow: 0, ask: 0, deny: 0 };
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 6, size: "max" }),
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
    { numRuns: 10_000 },
  );
  assert.ok(Math.min(seen.allow, seen.ask, seen.deny) > 150, `all answers occur: ${JSON.stringify(seen)}`);
});
