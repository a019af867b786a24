/** Proves which command lines can be read, and that whatever a shell would expand cannot. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { shellLine } from "./shell_line.ts";

const read = (script: string) => shellLine(["bash", "-c", script]);

Deno.test("plain words joined by connectors are split into commands", () => {
  assert.deepEqual(read("git status && ls -la src; cat 'a b' | grep \"x y\"\nwc -l"), [
    ["git", "status"],
    ["ls", "-la", "src"],
    ["cat", "a b"],
    ["grep", "x y"],
    ["wc", "-l"],
  ]);
  assert.deepEqual(read("ls;"), [["ls"]]);
  assert.deepEqual(read("/bin/rm -rf ''"), [["/bin/rm", "-rf", ""]]);
  assert.deepEqual(shellLine(["git", "log"]), [["git", "log"]]);
  assert.deepEqual(shellLine(["/bin/bash", "-lc", "pwd"]), [["pwd"]]);
});

for (
  const script of [
    "echo $HOME",
    "echo `id`",
    "echo $(id)",
    "(ls)",
    "{ ls; }",
    "ls > out",
    "cat < in",
    "cat <<X\nX",
    "ls &",
    "ls & rm x",
    "ls |& cat",
    "ls ;; ls",
    "ls &&",
    "&& ls",
    "A=1 ls",
    "ls *",
    "ls ?",
    "ls [ab]",
    "ls ~",
    "r\\m x",
    'echo "$x"',
    'echo "a\\"b"',
    "! ls",
    "# ls",
    "if true; then ls; fi",
    "eval rm x",
    "exec rm",
    "command rm x",
    "builtin echo",
    "source x",
    ". x",
    "cd /tmp && ls",
    "env rm x",
    "/usr/bin/env rm x",
    "sudo ls",
    "xargs rm",
    "timeout 5 rm x",
    "bash -c 'rm x'",
    "sh x.sh",
    "python3 -c 'x'",
    "python3",
    "node -e 'x'",
    "perl -pe x f",
    "find . -delete",
    "find . -exec rm",
    "git -c alias.x='!rm' x",
    "awk 'BEGIN{system(1)}'",
    "sed -i s/a/b/ f",
    "unterminated 'quote",
    "",
    "ls \u00a0",
    "ls\r",
    "\u0000",
  ]
) {
  Deno.test(`a line that says more than its words is unreadable: ${JSON.stringify(script)}`, () => {
    assert.equal(read(script), "unreadable");
  });
}

Deno.test("words quoted for a shell come back as they were", () => {
  const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }).filter((text) =>
    !text.includes("'")
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), (words) => {
      const script = ["ls", ...words.map((text) => `'${text}'`)].join(" ");
      assert.deepEqual(read(script), [["ls", ...words]]);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a long line is read in time that grows with its length", () => {
  assert.equal(read("ls a;".repeat(64)).length, 64);
  assert.equal(read("ls a;".repeat(20_000)), "unreadable");
});
