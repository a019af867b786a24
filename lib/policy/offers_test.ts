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
    "poetry run x",
    "npx -c x",
    "npm exec x",
    "mvn exec:java",
    "gradle -I x",
    "make SHELL=x",
    "cmake -P x",
    "dotnet exec x",
    "tar xf a --to-command=x",
    "rsync -e x a b",
    "sort --compress-program=x a",
    "git grep -Ox a",
    "git fetch --upload-pack=x",
    "git submodule foreach x",
    "vim +x",
    "man --pager=x ls",
    "nice x",
    "nohup x",
    "Rscript -e x",
    "julia -e x",
  ]
) {
  Deno.test(`nothing shorter than the line itself is offered for ${script}`, () => {
    assert.deepEqual(prefixes(shell(script)), [`bash -c ${script}`]);
  });
}

Deno.test("a command that a build tool is given is offered down to its name, never the tool alone", () => {
  assert.deepEqual(prefixes(shell("cargo test --all")), [
    "bash -c cargo test --all",
    "cargo test --all",
    "cargo test",
  ]);
  assert.deepEqual(prefixes(shell("npm run build")), ["bash -c npm run build", "npm run build"]);
  assert.deepEqual(prefixes(shell("go run x.go")), ["bash -c go run x.go", "go run x.go"]);
  assert.deepEqual(prefixes(shell("go test ./...")), ["bash -c go test ./...", "go test ./...", "go test"]);
});

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
