/** Proves what a profile itself adds to judgement: tools that it leaves out, and paths where it writes without a question. */
import assert from "node:assert/strict";
import { call, context, exec, rule, seeds, write } from "../../tests/doubles/policy_rows.ts";
import { readProfileConfig } from "../profile.ts";
import { isOffered, judge } from "./judge.ts";
import { profileProblem, type ProfileTerms } from "./profile.ts";
import type { Call, Rule } from "./rule.ts";

const nothing: ProfileTerms = { writePaths: [], excludedTools: [] };

function verdict(terms: Partial<ProfileTerms>, judged: Call, rules: readonly Rule[] | null = seeds) {
  const at = { ...context, agent: "writer", profile: { ...nothing, ...terms } };
  const { outcome, by, ref } = judge({ rules, bypasses: [] }, judged, at);
  return [outcome, by, ref];
}

Deno.test("a profile writes without a question where it may, and nowhere else", () => {
  const out = { writePaths: ["/out/", "notes/today.md"] };
  for (const path of ["/out", "/out/a", "/out/a/b", "/notes/today.md"]) {
    assert.deepEqual(verdict(out, write(path)), ["allow", "profile", "writer"], path);
  }
  for (const path of ["/outer", "/", "/notes", "/notes/today.md2", "/src/out/a"]) {
    assert.equal(verdict(out, write(path))[0], "ask", path);
  }
  const both: Call["paths"] = [{ path: "/out/a", access: "write" }, { path: "/src", access: "write" }];
  assert.equal(verdict(out, { ...write("/out/a"), paths: both })[0], "ask");
  assert.equal(verdict({ writePaths: ["/"] }, write("/anything"))[0], "allow");
});

Deno.test("an allowance of a profile lifts no denial, no floor and no question that is meant", () => {
  const all = { writePaths: ["/"] };
  const deny = rule("@fs_write", "deny", { pathPattern: "/out/*" });
  const ask = rule("write_file", "ask");
  assert.equal(verdict(all, write("/secrets/k"))[0], "deny");
  assert.equal(verdict(all, write("/out/a"), [deny])[0], "deny");
  assert.deepEqual(verdict(all, { ...write("/a"), outside: ["/etc/x"] }).at(-1), "outside_workspace");
  for (
    const [judged, rules] of [
      [write("/a"), [ask]],
      [write("/a"), null],
      [{ ...write("/a"), askOnce: true }, seeds],
      [{ ...write("/a"), twoPersons: true }, seeds],
      [{ ...write("/a"), known: false }, seeds],
      [{ ...write("/a"), source: "mcp:disk" }, seeds],
      [{ ...write("/a"), paths: [] }, seeds],
      [{ ...exec("touch", "a"), paths: write("/a").paths }, seeds],
    ] as const
  ) assert.equal(verdict(all, judged, rules)[0], "ask", JSON.stringify(judged));
});

Deno.test("what a profile leaves out is neither offered nor run, whatever allows it", () => {
  const out = { excludedTools: ["exec_command", "mcp__*"] };
  const allow = [rule("*", "allow")];
  const mail = call("mcp__mail__send", "mcp", [], { source: "mcp:mail" });

  assert.deepEqual(verdict(out, exec("ls"), allow), ["deny", "profile", "writer"]);
  assert.deepEqual(verdict(out, mail, allow), ["deny", "profile", "writer"]);
  assert.equal(verdict(out, exec("ls"), null)[0], "deny");
  assert.equal(verdict(out, write("/a"), allow)[0], "allow");
  const at = { ...context, profile: { ...nothing, ...out } };
  const offered = (facts: Call) => isOffered({ rules: allow, bypasses: [] }, facts, at);
  assert.deepEqual([exec("ls"), mail, write("/a")].map(offered), [false, false, true]);
});

Deno.test("a profile is saved only when its words mean something, and an unreadable one runs nothing", () => {
  for (const path of ["/a/*", "../a", "a\u0000", "/a?"]) {
    assert.ok(profileProblem({ ...nothing, writePaths: ["/ok", path] }), path);
  }
  assert.ok(profileProblem({ ...nothing, excludedTools: ["mcp__*", "*_file"] }));
  assert.equal(profileProblem({ writePaths: ["a/b", "/"], excludedTools: ["@fs_write"] }), undefined);
  assert.deepEqual(readProfileConfig("{}"), { instructions: "", ...nothing });
  for (const broken of ["", "{", "[]", `{"writePaths":"/"}`]) {
    assert.deepEqual(readProfileConfig(broken).excludedTools, ["*"], broken);
    assert.deepEqual(readProfileConfig(broken).writePaths, [], broken);
  }
});
