/**
 * Which rule covers which call, row by row, from the model's spelling of a path over its resolution to the rule: 48 rows, then 20 scenarios. Where
 * this gate answers otherwise than the table it was measured against, the row says why.
 */
import assert from "node:assert/strict";
import { ruleProblem } from "../../lib/policy/check_rule.ts";
import { type Bypass, type Call, type Context, missReason, type Rule } from "../../lib/policy/rule.ts";
import { secretPatterns } from "../../lib/policy/floor.ts";
import { judge } from "../../lib/policy/judge.ts";
import { offeredTools } from "../../tests/doubles/offered_tools.ts";
import { type LookAt, resolvePath } from "./files/virtual_path.ts";

/** As the tools themselves say. */
const classes = new Map(offeredTools().map(({ spec }) => [spec.name, spec.class]));

/** A disk with two links into the secrets and a few folders. */
const look: LookAt = (path) => {
  const links: Record<string, string> = {
    "/w/docs/leak": "/workspace/secrets",
    "/w/data/link": "/workspace/secrets/sub",
  };
  const folders = ["/w/docs", "/w/data", "/w/secrets", "/w/secrets/sub", "/w/memory", "/w/x"];
  const target = links[path];
  if (target !== undefined) return Promise.resolve({ kind: "link", target });
  return Promise.resolve({ kind: folders.includes(path) ? "directory" : "missing" });
};

async function callOf(tool: string, path?: string, more: Partial<Call> = {}): Promise<Call> {
  const found = path === undefined ? undefined : await resolvePath("/w", path, look);
  const kind = classes.get(tool) ?? "mcp";
  const access = kind === "read" ? "read" : "write";
  return {
    tool,
    class: kind,
    source: kind === "mcp" ? `mcp:${tool.split("__")[1]}` : "builtin",
    paths: found?.ok ? [{ path: found.at.path, access }] : [],
    outside: found && !found.ok ? [found.outside] : [],
    argv: kind === "exec" ? ["bash", "-c", "cat data/x"] : undefined,
    askOnce: false,
    known: true,
    ...more,
  };
}

function ruleOf(toolPattern: string, pathPattern: string | null, more: Partial<Rule> = {}): Rule {
  return {
    id: "r",
    groupId: "default",
    layer: "normal",
    ordinal: 1,
    priority: 100,
    action: "allow",
    toolPattern,
    pathPattern,
    argvPrefix: null,
    agent: null,
    source: null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
    ...more,
  };
}

const context: Context = {
  conversation: "c",
  agent: "main",
  source: "web",
  trigger: "person",
  group: "default",
  now: 1,
};

type Answer = "yes" | "no" | "refused at save" | "outside";
type Row = readonly [
  row: number,
  tool: string,
  path: string | null,
  called: string,
  with_: string | undefined,
  answer: Answer,
  why?: string,
];

const rows: readonly Row[] = [
  [1, "exec_command", null, "exec_command", undefined, "yes"],
  [2, "exec_command", null, "Exec_Command", undefined, "no"],
  [3, "*", null, "read_file", "a", "yes"],
  [4, "mcp__*", null, "mcp__gmail__search", undefined, "yes"],
  [5, "mcp__*", null, "exec_command", undefined, "no"],
  [6, "mcp__gmail__*", null, "mcp__gmail__send", undefined, "yes"],
  [7, "mcp__gmail__*", null, "mcp__gmail_work__send", undefined, "no"],
  [8, "mcp__gmail*", null, "mcp__gmail_work__send", undefined, "yes"],
  [9, "*_file", null, "read_file", "a", "refused at save"],
  [10, "mcp__*__send", null, "mcp__gmail__send", undefined, "refused at save"],
  [11, "@fs_read", null, "list_files", "a", "yes", "our read tools"],
  [12, "@fs_read", null, "write_file", "a", "no"],
  [13, "@fs_write", null, "edit_file", "a", "yes", "our write tools"],
  [14, "@fs_any", null, "list_files", "a", "yes"],
  [15, "@fs_any", null, "exec_command", undefined, "no"],
  [16, "@fs_foo", null, "read_file", "a", "refused at save"],
  [17, "@fs_any", "memory/*", "write_file", "memory/notes.md", "yes"],
  [18, "@fs_any", "memory/*", "list_files", "memory", "yes"],
  [19, "@fs_any", "memory/*", "list_files", "memory/", "yes"],
  [20, "@fs_any", "memory/*", "read_file", "memory/sub/deep.md", "yes"],
  [21, "@fs_any", "memory/*", "read_file", "memory-secrets/leak.md", "no"],
  [22, "@fs_any", "memory/*", "read_file", "memoryx", "no"],
  [23, "@fs_any", "memory/*", "read_file", "other/memory", "no"],
  [24, "@fs_any", "memory/*", "read_file", "./x/../memory/a", "yes"],
  [
    25,
    "@fs_any",
    "memory/*",
    "read_file",
    "/workspace/memory/a",
    "yes",
    "a command sees the root as /workspace",
  ],
  [
    26,
    "@fs_any",
    "data/*",
    "write_file",
    "/data/x",
    "yes",
    "paths are rooted at the workspace: /data is its own data",
  ],
  [27, "@fs_any", "secrets/*", "read_file", "docs/../secrets/k", "yes"],
  [28, "@fs_any", "secrets/*", "read_file", "docs/leak/k", "yes"],
  [29, "@fs_any", "secrets/*", "write_file", "secrets/new/deep/k", "yes"],
  [
    30,
    "@fs_any",
    "secrets/*",
    "read_file",
    "data/nonexist/../../secrets/k",
    "outside",
    "the system would open nothing",
  ],
  [31, "@fs_any", "secrets/*", "read_file", "data/link/../k", "yes"],
  [32, "@fs_any", "secrets/*", "list_files", ".", "no", "a listing shows names of one folder only"],
  [33, "read_file", "config.yml", "read_file", "config.yml", "yes"],
  [34, "read_file", "config.yml", "read_file", "config.yml.bak", "no"],
  [35, "@fs_any", "data*", "read_file", "database/x", "yes"],
  [36, "write_file", "data/ideagen-*/*", "write_file", "data/ideagen-42/a.md", "yes"],
  [37, "*", "data/*", "exec_command", undefined, "no"],
  [38, "*", "*", "exec_command", undefined, "no", "no path, so no path filter is met"],
  [39, "@fs_any", "/*", "list_files", undefined, "no", "no path, so no path filter is met"],
  [
    40,
    "mcp__fs__*",
    "data/*",
    "mcp__fs__write",
    undefined,
    "no",
    "a server has a folder of its own, not the workspace",
  ],
  [41, "mcp__fs__move", "data/*", "mcp__fs__move", undefined, "no", "as row 40"],
  [
    42,
    "@fs_any",
    "data/*",
    "read_file",
    undefined,
    "no",
    "arguments of another type are refused before the gate",
  ],
  [43, "@fs_any", "memory/", "read_file", "memory", "yes"],
  [44, "@fs_any", "./memory/*", "read_file", "memory/a", "yes"],
  [45, "@fs_any", "memory/*", "read_file", "Memory/a", "no", "the workspace's disk tells the two apart"],
  [46, "@fs_any", "data/*", "read_file", "data/x", "yes", "every path is the conversation's own"],
];

for (const [row, tool, path, called, at, answer, why] of rows) {
  Deno.test(`row ${row}: ${tool} ${path ?? "-"} on ${called} ${at ?? ""}${why ? ` (${why})` : ""}`, async () => {
    const rule = ruleOf(tool, path);
    const call = await callOf(called, at);

    const said: Answer = ruleProblem(rule) !== undefined
      ? "refused at save"
      : call.outside.length > 0
      ? "outside"
      : missReason(rule, call, context) === undefined
      ? "yes"
      : "no";

    assert.equal(said, answer);
  });
}

Deno.test("row 47: a rule of another agent", async () => {
  const rule = ruleOf("mcp__x__*", null, { agent: "researcher" });
  assert.equal(missReason(rule, await callOf("mcp__x__y"), context), "other agent");
});

Deno.test("row 48: a rule of another source", async () => {
  const rule = ruleOf("*", null, { source: "dm" });
  assert.equal(missReason(rule, await callOf("mcp__x__y"), context), "other source");
});

const seeds: readonly Rule[] = [
  ...secretPatterns.map((pattern, index) =>
    ruleOf("*", pattern, { id: `secret_${index}`, layer: "protected", action: "deny", ordinal: index })
  ),
  ruleOf("ask_user", null, { id: "ask_user", ordinal: 10 }),
  ruleOf("update_plan", null, { id: "plan", ordinal: 11 }),
  ruleOf("exec_command", null, { id: "exec", action: "ask", ordinal: 12 }),
  ruleOf("mcp__*", null, { id: "mcp", action: "ask", ordinal: 13 }),
  ruleOf("*", null, { id: "rest", action: "ask", priority: 1_000_000, ordinal: 14 }),
];
const bypass = (more: Partial<Bypass>): Bypass => ({
  id: "b",
  conversation: "c",
  scope: "all",
  pattern: null,
  uses: 0,
  expiresAt: 99,
  ...more,
});

interface Scenario {
  readonly tool: string;
  readonly path?: string;
  readonly more?: Partial<Call>;
  readonly rules?: readonly Rule[] | null;
  readonly bypasses?: readonly Bypass[];
  readonly at?: Partial<Context>;
  readonly want: "allow" | "ask" | "deny";
}

const own = (toolPattern: string, more: Partial<Rule>) =>
  ruleOf(toolPattern, null, { groupId: "g", id: "g", ...more });
const scenarios: readonly (readonly [name: string, scenario: Scenario])[] = [
  ["A a plan", { tool: "update_plan", want: "allow" }],
  ["B a command", { tool: "exec_command", want: "ask" }],
  ["C reading inside", { tool: "read_file", path: "data/x", want: "allow" }],
  ["D writing", { tool: "write_file", path: "src/a.ts", want: "ask" }],
  ["E reading anywhere inside", { tool: "read_file", path: "src/a.ts", want: "allow" }],
  ["F a bypass for all, and a secret", {
    tool: "read_file",
    path: "secrets/k",
    bypasses: [bypass({})],
    want: "deny",
  }],
  ["G a question to the user", {
    tool: "ask_user",
    want: "allow",
  }],
  ["H a group that allows all, and a secret", {
    tool: "read_file",
    path: "secrets/k",
    rules: [...seeds, own("*", { priority: 999_999 })],
    at: { group: "g" },
    want: "deny",
  }],
  ["I the own group is first, whatever the priority", {
    tool: "exec_command",
    rules: [
      own("exec_command", { action: "deny", priority: 0 }),
      ruleOf("exec_command", null, { priority: -100 }),
    ],
    at: { group: "g" },
    want: "deny",
  }],
  ["J an empty group", { tool: "exec_command", at: { group: "g" }, want: "ask" }],
  ["K a group that is gone: the database refuses to delete one in use, else as default", {
    tool: "exec_command",
    at: { group: "gone" },
    want: "ask",
  }],
  ["L the first of two", {
    tool: "exec_command",
    rules: [
      ruleOf("exec_command", null, { ordinal: 4 }),
      ruleOf("exec_command", null, { ordinal: 9, action: "deny" }),
    ],
    want: "allow",
  }],
  ["M rules that cannot be read", { tool: "exec_command", rules: null, bypasses: [bypass({})], want: "ask" }],
  ["N rules that cannot be read, and a secret", {
    tool: "read_file",
    path: "secrets/k",
    rules: null,
    want: "deny",
  }],
  ["N rules that cannot be read, and any file", { tool: "read_file", path: "a", rules: null, want: "ask" }],
  ["O no rules at all", { tool: "exec_command", rules: [], want: "ask" }],
  ["O no rules at all, reading inside", { tool: "read_file", path: "a", rules: [], want: "allow" }],
  ["P a bypass for commands, a command", {
    tool: "exec_command",
    bypasses: [bypass({ scope: "category", pattern: "exec" })],
    want: "allow",
  }],
  ["P a bypass for commands, a write", {
    tool: "write_file",
    path: "a",
    bypasses: [bypass({ scope: "category", pattern: "exec" })],
    want: "ask",
  }],
  ["Q a bypass for a server, its tool", {
    tool: "mcp__gmail__send",
    bypasses: [bypass({ scope: "mcp", pattern: "gmail" })],
    want: "allow",
  }],
  ["Q a bypass for a server, another's tool", {
    tool: "mcp__gdrive__read",
    bypasses: [bypass({ scope: "mcp", pattern: "gmail" })],
    want: "ask",
  }],
  ["R writing is allowed in a folder, by a rule of the profile's group", {
    tool: "write_file",
    path: "out/a",
    rules: [...seeds, ruleOf("@fs_write", "out/*", { groupId: "g" })],
    at: { group: "g" },
    want: "allow",
  }],
  ["R and not beside it", {
    tool: "write_file",
    path: "x/../y",
    rules: [...seeds, ruleOf("@fs_write", "out/*", { groupId: "g" })],
    at: { group: "g" },
    want: "ask",
  }],
  ["S a conversation where nobody is asked: a group that ends in a denial", {
    tool: "exec_command",
    rules: [...seeds, own("*", { action: "deny" })],
    at: { group: "g" },
    want: "deny",
  }],
  ["T a rule of another source", {
    tool: "exec_command",
    rules: [
      ruleOf("exec_command", null, { priority: -10, source: "zulip" }),
      ruleOf("*", null, { action: "ask" }),
    ],
    want: "ask",
  }],
];

for (const [name, { tool, path, more, rules, bypasses = [], at, want }] of scenarios) {
  Deno.test(`scenario ${name}: ${want}`, async () => {
    const policy = { rules: rules === undefined ? seeds : rules, bypasses };
    assert.equal(judge(policy, await callOf(tool, path, more), { ...context, ...at }).outcome, want);
  });
}
