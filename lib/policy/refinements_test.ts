/** Proves what refines the plain order of rules: the longer path, servers' words and modes, and what began the turn. */
import assert from "node:assert/strict";
import {
  call,
  everything,
  exec,
  outcome,
  read,
  rule,
  seeds,
  write,
} from "../../tests/doubles/policy_rows.ts";
import type { Call, Rule } from "./rule.ts";
import { matchesTool, toolPatternProblem } from "./tool_pattern.ts";

Deno.test("of two paths of one priority the longer one decides, in whatever order they stand", () => {
  const folder = rule("@fs_any", "allow", { pathPattern: "data/*" });
  const within = rule("@fs_any", "deny", { pathPattern: "data/private/*" });
  const file = rule("@fs_any", "allow", { pathPattern: "data/private/readme.md" });

  for (const rules of [[folder, within, file], [file, within, folder], [within, file, folder]]) {
    const placed = rules.map((each, index) => ({ ...each, ordinal: index }));
    assert.equal(outcome(placed, write("/data/a")), "allow");
    assert.equal(outcome(placed, write("/data/private/a")), "deny");
    assert.equal(outcome(placed, write("/data/private/readme.md")), "allow");
    assert.equal(outcome(placed, write("/other")), "ask");
  }
  const sooner = { ...folder, priority: 1 };
  assert.equal(outcome([sooner, within], write("/data/private/a")), "allow", "priority comes first");
  assert.equal(outcome([within, { ...folder, ordinal: 0 }], write("/data/private/a")), "deny");
});

Deno.test("a longer path takes nothing from a rule without one, nor from a rule about another path of the call", () => {
  const none = rule("write_file", "deny");
  const long = rule("@fs_write", "allow", { pathPattern: "data/private/*" });
  const move = call("move_file", "write", ["/data/private/a", "/b"]);
  const other = rule("*", "deny", { pathPattern: "b" });
  const asked = rule("*", "ask", { pathPattern: "data/private/*" });

  assert.equal(outcome([none, long], write("/data/private/a")), "deny");
  assert.equal(outcome([other, asked], move), "deny");
});

Deno.test("what a server says of its tool counts in rules only where the server is trusted", () => {
  const tool = (hints?: Call["hints"]) => call("mcp__m__t", "mcp", [], { source: "mcp:m", hints });
  const rows: readonly (readonly [string, Call["hints"], boolean])[] = [
    ["@mcp_read_only", { readOnly: true }, true],
    ["@mcp_read_only", { readOnly: false }, false],
    ["@mcp_read_only", {}, false],
    ["@mcp_read_only", undefined, false],
    ["@mcp_destructive", { readOnly: true }, false],
    ["@mcp_destructive", { destructive: false }, false],
    ["@mcp_destructive", { destructive: true }, true],
    ["@mcp_destructive", {}, true],
    ["@mcp_destructive", undefined, true],
    ["@mcp_open_world", { openWorld: false }, false],
    ["@mcp_open_world", undefined, true],
  ];

  for (const [pattern, hints, covered] of rows) {
    assert.equal(toolPatternProblem(pattern), undefined);
    assert.equal(matchesTool(pattern, tool(hints)), covered, `${pattern} on ${JSON.stringify(hints)}`);
    assert.equal(matchesTool(pattern, { ...read("/a"), hints }), false, `${pattern} on a file tool`);
  }
  const harmless = rule("@mcp_read_only", "allow", { priority: 1 });
  assert.equal(outcome([harmless, ...seeds], tool({ readOnly: true })), "allow");
  assert.equal(outcome([harmless, ...seeds], tool()), "ask");
  assert.equal(outcome([rule("@mcp_destructive", "deny"), rule("*", "allow")], tool()), "deny");
});

Deno.test("a configured mode asks always, or answers what no rule means; it lifts no denial and no floor", () => {
  const send = (mode: Call["mode"], more: Partial<Call> = {}) =>
    call("mcp__mail__send", "mcp", [], { source: "mcp:mail", mode, ...more });
  const at = (own: Rule) => [{ ...own, priority: 1 }, ...seeds];
  const lifted = { bypasses: [everything] };
  const rows: readonly (readonly [string, readonly Rule[] | null, Call, string])[] = [
    ["no mode: asked for", seeds, send(undefined), "ask"],
    ["approve answers the seeds' questions", seeds, send("approve"), "allow"],
    ["approve without any rule", [], send("approve"), "allow"],
    ["approve: a denial of the tool", at(rule("mcp__mail__send", "deny")), send("approve"), "deny"],
    ["approve: a denial of everything", at(rule("*", "deny")), send("approve"), "deny"],
    [
      "approve: a protected denial",
      at(rule("mcp__*", "deny", { layer: "protected" })),
      send("approve"),
      "deny",
    ],
    [
      "approve: a protected path",
      at(rule("*", "deny", { layer: "protected", pathPattern: "/**/secrets/*" })),
      send("approve", { paths: [{ path: "/secrets/k", access: "read" }] }),
      "deny",
    ],
    ["approve: outside", seeds, send("approve", { outside: ["/etc"] }), "deny"],
    ["approve: a question about the tool", at(rule("mcp__mail__send", "ask")), send("approve"), "ask"],
    ["approve: a question about the server", at(rule("mcp__mail__*", "ask")), send("approve"), "ask"],
    ["approve: a question about a class", at(rule("@mcp_destructive", "ask")), send("approve"), "ask"],
    [
      "approve: a question about the agent",
      at(rule("*", "ask", { agent: "default" })),
      send("approve"),
      "ask",
    ],
    ["approve: unreadable rules", null, send("approve"), "ask"],
    ["approve: unknown", seeds, send("approve", { known: false }), "ask"],
    ["approve: changed by its server", seeds, send("approve", { changedAt: 1 }), "ask"],
    ["approve: no sandbox", seeds, send("approve", { askOnce: true }), "ask"],
    ["approve: two people", seeds, send("approve", { twoPersons: true }), "ask"],
    ["approve: nothing but MCP", seeds, { ...exec("ls"), mode: "approve" }, "ask"],
    ["prompt: an allowance", at(rule("mcp__mail__send", "allow")), send("prompt"), "ask"],
    ["prompt: a denial", at(rule("mcp__mail__send", "deny")), send("prompt"), "deny"],
  ];

  for (const [what, rules, judged, want] of rows) assert.equal(outcome(rules, judged), want, what);
  assert.equal(outcome(seeds, send(undefined), lifted), "allow");
  assert.equal(outcome(seeds, send("prompt"), lifted), "ask", "no bypass lifts it");
});

Deno.test("what a schedule began is under no bypass, and rules can name it", () => {
  const scheduled = { trigger: "schedule" as const };
  const unknown = { trigger: undefined };
  const bypasses = [everything];
  const cron = rule("exec_command", "deny", { source: "schedule" });
  const web = rule("exec_command", "allow", { source: "web" });

  assert.equal(outcome(seeds, exec("ls"), { bypasses }), "allow");
  assert.equal(outcome(seeds, exec("ls"), { bypasses, ...scheduled }), "ask");
  assert.equal(outcome(seeds, exec("ls"), { bypasses, ...unknown }), "ask");
  assert.equal(outcome([cron], exec("ls"), scheduled), "deny");
  assert.equal(outcome([cron], exec("ls"), unknown), "deny");
  assert.equal(outcome([cron], exec("ls")), "ask");
  assert.equal(outcome([{ ...cron, action: "allow" }], exec("ls"), scheduled), "allow");
  assert.equal(outcome([{ ...cron, action: "allow" }], exec("ls"), unknown), "ask");
  assert.equal(outcome([web], exec("ls")), "allow");
  assert.equal(outcome([web], exec("ls"), scheduled), "ask", "an allowance for a place is for its people");
  assert.equal(outcome([{ ...web, action: "deny" }], exec("ls"), scheduled), "deny");
});
