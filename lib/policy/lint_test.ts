/** Proves that the lint finds what is certainly hidden and never calls a rule hidden that still decides something. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { judge } from "./judge.ts";
import { lint } from "./lint.ts";
import type { Call, Rule } from "./rule.ts";

const base: Rule = {
  id: "r",
  groupId: "default",
  layer: "normal",
  ordinal: 1,
  priority: 100,
  action: "allow",
  toolPattern: "read_file",
  pathPattern: null,
  argvPrefix: null,
  agent: null,
  source: null,
  expiresAt: null,
  maxUses: null,
  uses: 0,
};
const tools = [
  { tool: "read_file", class: "read" },
  { tool: "write_file", class: "write" },
  { tool: "exec_command", class: "exec" },
  { tool: "mcp__m__look", class: "mcp", hints: { readOnly: true } },
] as const;

function kinds(...rules: Partial<Rule>[]): string[] {
  const all = rules.map((rule, index) => ({ ...base, id: `r${index}`, ordinal: index, ...rule }));
  return lint(all, { tools, now: 10 }).map((found) =>
    `${found.ruleId} ${found.kind} ${found.by ?? ""}`.trim()
  );
}

for (
  const [what, rules, expected] of [
    ["an earlier rule for everything", [{ toolPattern: "*", action: "ask" }, {}], ["r1 shadowed r0"]],
    ["a class before its tool", [{ toolPattern: "@fs_any", action: "deny" }, {}], ["r1 shadowed r0"]],
    ["a prefix before its tool", [{ toolPattern: "read*", action: "deny" }, {}], ["r1 shadowed r0"]],
    ["a lower priority that stands first in the list", [
      { priority: 200, toolPattern: "*", action: "ask" },
      {},
    ], []],
    ["an earlier rule that ends", [{ expiresAt: 99 }, {}], []],
    ["an earlier rule for one agent", [{ agent: "a" }, {}], []],
    ["a shorter command", [{ toolPattern: "exec_command", argvPrefix: ["ls"] }, {
      toolPattern: "exec_command",
      argvPrefix: ["ls", "-l"],
    }], ["r1 shadowed r0"]],
    ["an allowance before a denial of the same path", [{ pathPattern: "/a/*" }, {
      pathPattern: "/a/*",
      action: "deny",
    }], []],
    ["an allowance for an agent before a denial for it, which a call of unknown origin meets", [
      { agent: "a" },
      { agent: "a", action: "deny" },
    ], []],
    ["another group", [{ groupId: "g" }, {}], []],
    ["a protected rule over all groups", [{ layer: "protected", action: "deny" }, { groupId: "g" }], [
      "r1 shadowed r0",
    ]],
    ["time that is over", [{ expiresAt: 10 }], ["r0 expired"]],
    ["uses that are spent", [{ maxUses: 1, uses: 1 }], ["r0 used_up"]],
    ["a general rule for one tool before a longer path, where a shorter path stands first", [
      { pathPattern: "/a/*" },
      {},
      { pathPattern: "/a/b/*" },
    ], []],
    ["the same path twice", [{ pathPattern: "/a/*" }, { pathPattern: "/a/*" }], ["r1 shadowed r0"]],
    ["a class of tools that says they change nothing before such a tool", [
      { toolPattern: "@mcp_read_only", action: "ask" },
      { toolPattern: "mcp__m__look" },
    ], ["r1 shadowed r0"]],
    ["a class that no server's tool belongs to", [{ toolPattern: "@mcp_destructive" }], ["r0 unknown_tool"]],
    ["a tool that nobody offers", [{ toolPattern: "fly" }], ["r0 unknown_tool"]],
    ["a pattern for servers that may come", [{ toolPattern: "mcp__*" }], []],
    ["everything allowed", [{ toolPattern: "*" }], ["r0 too_wide"]],
    ["a wrapper", [{ toolPattern: "exec_command", argvPrefix: ["sudo"] }], ["r0 unsound"]],
  ] as const
) {
  Deno.test(`lint: ${what}`, () => assert.deepEqual(kinds(...rules), expected));
}

Deno.test("a rule that the lint calls hidden never decides", () => {
  const path = fc.constantFrom("/a", "/a/b", "/c");
  const rule = fc.record({
    action: fc.constantFrom("allow", "ask", "deny"),
    toolPattern: fc.constantFrom(
      "*",
      "read_file",
      "read*",
      "@fs_read",
      "@fs_any",
      "write_file",
      "exec_command",
      "@mcp_read_only",
      "mcp__m__look",
    ),
    pathPattern: fc.constantFrom(null, null, "/a/*", "/a", "/a/b/*", "/**"),
    argvPrefix: fc.constantFrom(null, null, ["git"], ["git", "log"]),
    agent: fc.constantFrom(null, null, "a"),
    source: fc.constantFrom(null, null, "web", "zulip", "schedule"),
    priority: fc.constantFrom(1, 2),
    layer: fc.constantFrom("normal" as const, "normal" as const, "protected" as const),
  });
  const call = fc.record({
    at: fc.constantFrom(...tools),
    paths: fc.array(fc.record({ path, access: fc.constantFrom("read", "write") }), { maxLength: 2 }),
    argv: fc.constantFrom(undefined, ["git", "log"], ["ls"], ["bash", "-c", "git log && ls"], [
      "bash",
      "-c",
      "$x",
    ]),
    agent: fc.constantFrom(undefined, "a", "b"),
    source: fc.constantFrom(undefined, "web", "channel"),
    trigger: fc.constantFrom(undefined, "person" as const, "schedule" as const),
  });
  fc.assert(
    fc.property(fc.array(rule, { minLength: 2, maxLength: 4 }), call, (texts, at) => {
      const rules = texts.map((text, index) =>
        ({ ...base, ...text, id: `r${index}`, ordinal: index }) as Rule
      );
      const hidden = new Set(
        lint(rules, { tools, now: 1 }).filter((found) => found.kind === "shadowed").map((found) =>
          found.ruleId
        ),
      );
      const call = {
        ...at.at,
        paths: at.paths,
        argv: at.argv,
        source: "builtin",
        outside: [],
        askOnce: false,
        known: true,
      } as Call;
      const { ref } = judge({ rules, bypasses: [] }, call, {
        conversation: "c",
        agent: at.agent,
        source: at.source as "web" | undefined, // one of the two that the arbitrary gives
        trigger: at.trigger,
        group: "default",
        now: 1,
      });
      assert.ok(!hidden.has(ref), `${ref} decided`);
    }),
    { numRuns: 2_000 },
  );
});
