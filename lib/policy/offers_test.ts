/** Proves what *always* may be made of a call, and what is never offered. */
import assert from "node:assert/strict";
import { offersFor } from "./offers.ts";
import type { Call, Rule } from "./rule.ts";

const context = { conversation: "c", group: "default", now: 5 };
const call: Call = {
  tool: "exec_command",
  class: "exec",
  source: "builtin",
  paths: [],
  outside: [],
  askOnce: false,
  known: true,
};
const shell = (script: string): Call => ({ ...call, argv: ["bash", "-c", script] });
const prefixes = (of: Call, rules: readonly Rule[] = []) =>
  offersFor(of, rules, context).map(({ rule }) => rule.argvPrefix?.join(" "));

Deno.test("a plain command is offered exactly, then by ever shorter prefixes", () => {
  assert.deepEqual(prefixes(shell("git log --oneline -n 5")), [
    "bash -c git log --oneline -n 5",
    "git log --oneline",
    "git log",
  ]);
});

for (
  const script of [
    "sudo ls",
    "python3 -c x",
    "bash -lc ls",
    "env",
    "sh -c ls",
    "node -e x",
    "perl -e x",
    "ruby -e x",
    "xargs rm",
    "osascript x",
  ]
) {
  Deno.test(`nothing shorter than the line itself is offered for ${script}`, () => {
    assert.deepEqual(prefixes(shell(script)), [`bash -c ${script}`]);
  });
}

Deno.test("several commands, and lines that cannot be read, are offered exactly or not at all", () => {
  assert.deepEqual(prefixes(shell("ls && pwd")), ["bash -c ls && pwd"]);
  assert.deepEqual(prefixes(shell("echo $HOME")), ["bash -c echo $HOME"]);
});

Deno.test("nothing is offered that an earlier rule would still ask about, or that only a person may allow", () => {
  const ask: Rule = {
    id: "ask",
    groupId: "default",
    layer: "normal",
    ordinal: 1,
    priority: 1,
    action: "ask",
    toolPattern: "exec_command",
    pathPattern: null,
    argvPrefix: null,
    agent: null,
    source: null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
  };
  assert.deepEqual(prefixes(shell("ls"), [ask]), []);
  assert.equal(prefixes(shell("ls"), [{ ...ask, priority: 1000 }]).length, 2);
  assert.deepEqual(prefixes({ ...shell("ls"), askOnce: true }), []);
  assert.deepEqual(prefixes({ ...shell("ls"), known: false }), []);
});

Deno.test("a file is offered by its path, its folder, and its folder for every file tool", () => {
  const write: Call = {
    ...call,
    tool: "write_file",
    class: "write",
    paths: [{ path: "/src/a.ts", access: "write" }],
  };
  const offers = offersFor(write, [], context).map(({ rule }) => [rule.toolPattern, rule.pathPattern]);

  assert.deepEqual(offers, [["write_file", "/src/a.ts"], ["write_file", "/src/*"], ["@fs_write", "/src/*"]]);
  assert.deepEqual(offersFor({ ...write, paths: [{ path: "/*", access: "write" }] }, [], context), []);
});

Deno.test("a server's tool is offered by its name alone", () => {
  const mcp: Call = { ...call, tool: "mcp__mail__send", class: "mcp", source: "mcp:mail" };

  assert.deepEqual(offersFor(mcp, [], context).map(({ rule }) => rule.toolPattern), ["mcp__mail__send"]);
});
