/** Proves path patterns: the truth table of virtual paths, and agreement with a slow matcher that follows the definition word by word. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { matchesPath, normalizePattern, pathPatternProblem } from "./path_pattern.ts";

const table: readonly (readonly [pattern: string, path: string, covered: boolean, why: string])[] = [
  ["memory/*", "/memory/notes.md", true, "child"],
  ["memory/*", "/memory", true, "the directory itself"],
  ["memory/*", "/memory/sub/deep.md", true, "subtree"],
  ["memory/*", "/memory-secrets/leak.md", false, "name boundary"],
  ["memory/*", "/memoryx", false, "name boundary"],
  ["memory/*", "/other/memory", false, "anchored at the root"],
  ["memory/", "/memory", true, "the pattern is tidied"],
  ["./memory/*", "/memory/a", true, "the pattern is tidied"],
  ["memory/*", "/Memory/a", false, "case counts"],
  ["config.yml", "/config.yml", true, "exact"],
  ["config.yml", "/config.yml.bak", false, "exact"],
  ["data*", "/database/x", true, "a closing star takes the rest"],
  ["data/ideagen-*/*", "/data/ideagen-42/a.md", true, "star inside a name"],
  ["data/ideagen-*/*", "/data/other-42/a.md", false, "star inside a name"],
  ["*.md", "/notes.md", true, "star stays in a name"],
  ["*.md", "/sub/notes.md", false, "star stays in a name"],
  ["**/*.md", "/a/b/notes.md", true, "two stars span names"],
  ["**/*.md", "/notes.md", true, "two stars may be nothing"],
  ["**/secrets/*", "/a/secrets/k", true, "a folder anywhere"],
  ["**/secrets/*", "/secrets", true, "a folder anywhere, itself"],
  ["**/secrets/*", "/a/secretsx/k", false, "name boundary"],
  ["a/**/z", "/a/z", true, "two stars may be nothing"],
  ["a/?.txt", "/a/b.txt", true, "one character"],
  ["a/?.txt", "/a/bc.txt", false, "one character"],
  ["*", "/", true, "everything"],
  ["/*", "/a/b", true, "everything"],
];

Deno.test("matchesPath() follows the truth table", () => {
  for (const [pattern, path, covered, why] of table) {
    assert.equal(matchesPath(pattern, path), covered, `${pattern} on ${path}: ${why}`);
  }
});

/** The definition as a regular expression, built piece by piece. */
function slowMatches(pattern: string, path: string): boolean {
  const normal = normalizePattern(pattern);
  const names = normal.slice(1).split("/");
  const last = names.length - 1;
  const body = names.map((name, index) => {
    if (name === "**") return index === last ? "(?:/[^/]*)*" : "(?:/[^/]+)*";
    if (index === last && name === "*") return "(?:/.*)?";
    const chars = [...name].map((char, at) => {
      if (char === "*") return index === last && at === name.length - 1 ? "[^/]*(?:/.*)?" : "[^/]*";
      return char === "?" ? "[^/]" : char.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
    });
    return `/${chars.join("")}`;
  }).join("");
  return new RegExp(`^${body}$`, "su").test(path);
}

Deno.test("matchesPath() agrees with a slow matcher on any pattern and path", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 4 })
    .filter((text) => text !== "." && text !== "..");
  const path = fc.array(name, { maxLength: 5 }).map((names) => `/${names.join("/")}`);
  const wild = fc.oneof(
    fc.constant("**"),
    fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 4 })
      .map((text) => text.replaceAll(/\*+/g, "*")).filter((text) => text !== "."),
  );
  const pattern = fc.array(wild, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

  fc.assert(
    fc.property(pattern, path, (glob, target) => {
      assert.equal(matchesPath(glob, target), slowMatches(glob, target), `${glob} on ${target}`);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("matchesPath() is not slowed down by a hostile path", () => {
  const started = performance.now();

  assert.equal(matchesPath("/*a*a*a*a*a*a*a*b/x", `/${"a".repeat(4000)}`), false);

  assert.ok(performance.now() - started < 500);
});

Deno.test("a path pattern that would be misread is refused", () => {
  for (const bad of ["a/../b", "a**b", "a\nb", "*".repeat(1) + "/*a/*b/*c/*d/*e/*f/*g/*h"]) {
    assert.ok(pathPatternProblem(bad), bad);
  }
  for (const good of ["memory/*", "**/secrets/*", "/a/?.md"]) {
    assert.equal(pathPatternProblem(good), undefined);
  }
});
