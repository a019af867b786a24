/** Proves `judge.ts`, `rule.ts`, `tool_pattern.ts` and `check_rule.ts`: precedence, what nothing can lift, and what may be saved. */
import assert from "node:assert/strict";
import {
  call,
  context,
  everything,
  exec,
  outcome,
  read,
  rule,
  seeds,
  write,
} from "../../tests/doubles/policy_rows.ts";
import { ruleProblem } from "./check_rule.ts";
import { hiddenPatterns, secretPatterns } from "./floor.ts";
import { isOffered, judge } from "./judge.ts";
import type { Bypass, Call, Rule } from "./rule.ts";
import { matchesTool, toolPatternProblem } from "./tool_pattern.ts";

Deno.test("a tool pattern is exact, a prefix, everything, or a class of file tools", () => {
  const rows: readonly (readonly [string, Call, boolean])[] = [
    ["exec_command", exec("ls"), true],
    ["exec_command", call("Exec_Command", "exec"), false],
    ["*", exec("ls"), true],
    ["mcp__*", call("mcp__gmail__search", "mcp"), true],
    ["mcp__*", exec("ls"), false],
    ["mcp__gmail__*", call("mcp__gmail__send", "mcp"), true],
    ["mcp__gmail__*", call("mcp__gmail_work__send", "mcp"), false],
    ["mcp__gmail*", call("mcp__gmail_work__send", "mcp"), true],
    ["@fs_read", call("outline", "read"), true],
    ["@fs_read", write("/a"), false],
    ["@fs_write", call("insert_at_line", "write"), true],
    ["@fs_any", read("/"), true],
    ["@fs_any", exec("ls"), false],
  ];
  for (const [pattern, facts, covered] of rows) {
    assert.equal(matchesTool(pattern, facts), covered, `${pattern} on ${facts.tool}`);
  }
  for (const bad of ["*_file", "mcp__*__send", "@fs_foo", "a b"]) assert.ok(toolPatternProblem(bad), bad);
});

Deno.test("the seeds ask by default, let harmless tools and workspace reads pass, and deny secrets", () => {
  assert.equal(outcome(seeds, call("update_plan", "plan")), "allow");
  assert.equal(outcome(seeds, call("ask_user", "plan")), "allow");
  assert.equal(outcome(seeds, exec("ls")), "ask");
  assert.equal(outcome(seeds, write("/src/a.ts")), "ask");
  assert.equal(outcome(seeds, read("/src/a.ts")), "allow");
  assert.equal(outcome(seeds, read("/secrets/k")), "deny");
  assert.equal(outcome(seeds, call("mcp__x__y", "mcp", [], { source: "mcp:x" })), "ask");
  assert.equal(outcome([], exec("ls")), "ask");
});

Deno.test("a denied call cannot be reached by any bypass, group or fast path", () => {
  const generous = [...seeds, rule("*", "allow", { groupId: "g", priority: -1 })];

  assert.equal(outcome(seeds, read("/secrets/k"), { bypasses: [everything] }), "deny");
  assert.equal(outcome(generous, read("/secrets/k"), { group: "g", bypasses: [everything] }), "deny");
  assert.equal(outcome([rule("read_file", "deny")], read("/a"), { bypasses: [everything] }), "deny");
});

Deno.test("what lies outside the workspace is denied whatever the rules say", () => {
  const outside = call("read_file", "read", [], { outside: ["/etc/passwd"] });

  assert.equal(outcome([rule("*", "allow")], outside, { bypasses: [everything] }), "deny");
  assert.equal(outcome(null, outside), "deny");
});

Deno.test("unreadable rules end at ask, without fast path or bypass, and still deny secrets", () => {
  assert.equal(outcome(null, read("/src/a.ts"), { bypasses: [everything] }), "ask");
  assert.equal(outcome(null, exec("ls"), { bypasses: [everything] }), "ask");
  assert.equal(outcome(null, read("/a/.ssh/id")), "deny");
});

Deno.test("commands are to see nothing of what protected rules in force deny to readers or to commands", () => {
  const at = (toolPattern: string, more: Partial<Rule> = {}) =>
    rule(toolPattern, "deny", { layer: "protected", pathPattern: "/x/*", ...more });
  const hidden = (...rules: readonly Rule[]) => hiddenPatterns(rules, 1000);

  for (const pattern of ["*", "@fs_any", "@fs_read", "read_file", "exec_command"]) {
    assert.deepEqual(hidden(at(pattern)), ["/x/*"], pattern);
  }
  assert.deepEqual(hidden(at("*", { agent: "a", source: "dm" })), ["/x/*"], "whoever asks");
  assert.deepEqual(hidden(at("*"), at("@fs_any")), ["/x/*"]);
  assert.deepEqual(hidden(at("@fs_write"), at("*", { pathPattern: null })), []);
  assert.deepEqual(hidden(at("*", { layer: "normal" }), at("*", { expiresAt: 1000 })), []);
  assert.deepEqual(hiddenPatterns(null, 1000), [...secretPatterns], "the rules cannot be read");
});

Deno.test("without a sandbox nothing but a person allows a call", () => {
  const naked = { ...exec("ls"), askOnce: true };

  assert.equal(outcome([rule("*", "allow")], naked, { bypasses: [everything] }), "ask");
  assert.equal(outcome([], { ...read("/a"), askOnce: true }), "ask");
  assert.equal(outcome([rule("*", "deny")], naked), "deny");
});

Deno.test("an unknown or redefined tool is asked for, never allowed", () => {
  const unknown = { ...call("mcp__x__y", "mcp"), known: false };

  assert.equal(outcome([rule("*", "allow")], unknown, { bypasses: [everything] }), "ask");
  assert.equal(outcome([rule("mcp__*", "deny")], unknown), "deny");
});

Deno.test("the own group comes before the default one, and priority before ordinal", () => {
  const own = rule("exec_command", "deny", { groupId: "g", priority: 0 });
  const standard = rule("exec_command", "allow", { priority: -100 });

  assert.equal(outcome([standard, own], exec("ls"), { group: "g" }), "deny");
  assert.equal(outcome([standard, own], exec("ls")), "allow");
  assert.equal(outcome([standard], exec("ls"), { group: "g" }), "allow");
  assert.equal(outcome([rule("*", "allow"), rule("*", "deny")], exec("ls")), "allow");
  assert.equal(outcome([rule("*", "allow"), rule("*", "deny", { priority: 1 })], exec("ls")), "deny");
});

Deno.test("an allowance must cover every path, a denial any of them", () => {
  const move = call("move_file", "write", ["/data/a", "/etc/b"]);

  assert.equal(outcome([rule("*", "allow", { pathPattern: "data/*" })], move), "ask");
  assert.equal(outcome([rule("*", "deny", { pathPattern: "etc/*" }), rule("*", "allow")], move), "deny");
});

Deno.test("a rule about paths never covers a call without one", () => {
  assert.equal(outcome([rule("*", "allow", { pathPattern: "*" })], exec("cat", "data/x")), "ask");
  assert.equal(outcome([rule("*", "deny", { pathPattern: "/*" }), rule("*", "allow")], exec("ls")), "allow");
});

Deno.test("a rule about a command needs its words in order, and an allowance never covers unknown words", () => {
  const status = rule("exec_command", "allow", { argvPrefix: ["git", "status"] });
  const script = call("exec_command", "exec");

  assert.equal(outcome([status], exec("git", "status", "-s")), "allow");
  assert.equal(outcome([status], exec("git", "push")), "ask");
  assert.equal(outcome([status], script), "ask");
  assert.equal(outcome([rule("*", "deny", { argvPrefix: ["rm"] }), rule("*", "allow")], script), "deny");
});

Deno.test("filters on agent and source are exact; what is not known only ever tightens", () => {
  const only = rule("*", "allow", { agent: "writer" });
  const channel = rule("*", "allow", { source: "channel" });

  assert.equal(outcome([only], exec("ls")), "ask");
  assert.equal(outcome([only], exec("ls"), { agent: "writer" }), "allow");
  assert.equal(outcome([only], exec("ls"), { agent: undefined }), "ask");
  assert.equal(outcome([channel], exec("ls"), { source: "dm" }), "ask");
  assert.equal(outcome([rule("*", "allow", { source: "zulip" })], exec("ls"), { source: "dm" }), "allow");
  assert.equal(
    outcome([rule("*", "deny", { agent: "x" }), rule("*", "allow")], exec("ls"), { agent: undefined }),
    "deny",
  );
});

Deno.test("a rule ends with its time and its uses", () => {
  assert.equal(outcome([rule("*", "allow", { expiresAt: 1000 })], exec("ls")), "ask");
  assert.equal(outcome([rule("*", "allow", { expiresAt: 1001 })], exec("ls")), "allow");
  assert.equal(outcome([rule("*", "allow", { maxUses: 2, uses: 2 })], exec("ls")), "ask");
});

Deno.test("a bypass covers its scope, its conversation and its time only", () => {
  const mail = call("mcp__gmail__send", "mcp", [], { source: "mcp:gmail" });
  const at = (scope: Bypass["scope"], pattern: string | null, more: Partial<Bypass> = {}) => ({
    bypasses: [{ ...everything, scope, pattern, ...more }],
  });

  assert.equal(outcome([], exec("ls"), at("tool", "exec_command")), "allow");
  assert.equal(outcome([], write("/a"), at("tool", "exec_command")), "ask");
  assert.equal(outcome([], exec("ls"), at("category", "exec")), "allow");
  assert.equal(outcome([], write("/a"), at("category", "exec")), "ask");
  assert.equal(outcome([], mail, at("mcp", "gmail")), "allow");
  assert.equal(outcome([], mail, at("mcp", "gdrive")), "ask");
  assert.equal(outcome([], mail, at("category", "mcp")), "ask");
  assert.equal(outcome([], exec("ls"), at("all", null, { conversation: "c2" })), "ask");
  assert.equal(outcome([], exec("ls"), at("all", null, { expiresAt: 1000 })), "ask");
});

Deno.test("a question about something in particular holds against the read fast path", () => {
  const path = rule("@fs_read", "ask", { pathPattern: "private/*" });
  const rows: readonly (readonly [string, readonly Rule[], string])[] = [
    ["another path", [path], "allow"],
    ["every tool", [rule("*", "ask")], "allow"],
    ["the tool", [rule("read_file", "ask")], "ask"],
    ["a prefix of it", [rule("read*", "ask")], "ask"],
    ["its class", [rule("@fs_read", "ask")], "ask"],
    ["the agent", [rule("*", "ask", { agent: "default" })], "ask"],
    ["another agent", [rule("*", "ask", { agent: "x" })], "allow"],
    ["the source", [rule("*", "ask", { source: "web" })], "ask"],
    ["the tool, behind one for every tool", [rule("*", "ask"), rule("read_file", "ask")], "allow"],
  ];

  for (const [what, rules, want] of rows) assert.equal(outcome(rules, read("/public/a")), want, what);
  assert.equal(outcome([path], read("/private/a")), "ask");
  assert.equal(outcome([], call("mcp__fs__read", "mcp", ["/a"], { source: "mcp:fs" })), "ask");
});

Deno.test("a tool is hidden only by an unconditional denial, and always when rules are unreadable", () => {
  const offered = (rules: readonly Rule[] | null) =>
    isOffered({ rules, bypasses: [] }, { tool: "write_file", class: "write" }, context);

  assert.equal(offered(seeds), true);
  assert.equal(offered([rule("@fs_write", "deny")]), false);
  assert.equal(offered([rule("@fs_write", "deny", { pathPattern: "a/*" })]), true);
  assert.equal(offered([rule("*", "allow", { pathPattern: "out/*" }), rule("*", "deny")]), true);
  assert.equal(offered([rule("*", "deny", { source: "dm" })]), true);
  const blocked = rule("@fs_write", "deny", { pathPattern: "a/*" });
  const opened = rule("@fs_write", "allow", { pathPattern: "a/b/*" });
  assert.equal(offered([blocked, { ...rule("*", "deny") }, { ...opened, ordinal: 999 }]), true);
  assert.equal(offered([{ ...rule("*", "deny") }, { ...opened, ordinal: 999 }]), false);
  assert.equal(offered(null), false);
});

Deno.test("a verdict says which rule decided and what was passed over", () => {
  const skipped = rule("exec_command", "allow", { argvPrefix: ["git"] });
  const decisive = rule("*", "ask");

  const verdict = judge({ rules: [skipped, decisive], bypasses: [] }, exec("ls"), context);

  assert.equal(verdict.ref, decisive.id);
  assert.deepEqual(verdict.trace, [
    { step: "default", outcome: "skipped: other command", ref: skipped.id },
    { step: "default", outcome: "ask", ref: decisive.id },
    { step: "end", outcome: "ask" },
  ]);
});

Deno.test("a rule that would allow any wrapped command is refused", () => {
  const problem = (...argvPrefix: string[]) =>
    ruleProblem({ action: "allow", toolPattern: "exec_command", pathPattern: null, argvPrefix });

  for (
    const bad of [
      ["bash"],
      ["bash", "-lc"],
      ["/usr/bin/python3", "-c"],
      ["sudo", "-u", "root"],
      ["env", "A=1"],
      ["git"],
      ...[
        "cargo",
        "go",
        "make",
        "gradle",
        "./gradlew",
        "mvn",
        "dotnet",
        "java",
        "npm",
        "npx",
        "Rscript",
        "julia",
        "pytest-3",
      ].map((
        name,
      ) => [name]),
      ["go", "run"],
      ["go", "run", "-race"],
      ["cargo", "run"],
      ["npm", "run"],
      ["npm", "install"],
      ["pip3", "install", "--user"],
      ["deno", "run", "-A"],
      ["deno", "eval"],
      ["java", "-jar"],
      ["python3", "-m"],
      ["timeout", "5"],
      ["nice"],
      ["/lib64/ld-linux-x86-64.so.2"],
      ["vim"],
      ["less", "-R"],
      ["poetry", "run"],
      [],
    ]
  ) {
    assert.ok(problem(...bad), bad.join(" "));
  }
  assert.equal(problem("git", "status"), undefined);
  for (
    const good of [
      ["cargo", "test"],
      ["go", "run", "./cmd/serve"],
      ["npm", "run", "build"],
      ["make", "test"],
      ["mvn", "verify"],
      ["java", "-jar", "app.jar"],
      ["python3", "check.py"],
      ["deno", "task", "ok"],
      ["tar"],
      ["ls"],
    ]
  ) assert.equal(problem(...good), undefined, good.join(" "));
  assert.equal(
    ruleProblem({ action: "deny", toolPattern: "exec_command", pathPattern: null, argvPrefix: ["bash"] }),
    undefined,
  );
});
