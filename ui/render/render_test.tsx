import assert from "node:assert/strict";
import fc from "fast-check";
import { renderToString } from "preact-render-to-string";
import { diffCounts, diffLines, headAndTail } from "./diff_lines.ts";
import { blankParts, foldBlankLines } from "./blanks.ts";
import { hasEscapes, HostileText } from "./hostile_text.tsx";
import { Markdown, safeHref } from "./markdown.tsx";
import { ageOf, leftOf, spanOf } from "./time.ts";

const html = (text: string) => renderToString(<Markdown text={text} />);

Deno.test("Markdown draws what models write", () => {
  const drawn = html(
    "# Title\n\n- [x] done\n- *two*\n\n1. one\n\n| a |\n|---|\n| `1` |\n\n> q\n\n```js\nlet a;\n```\n\na &amp; b",
  );

  for (
    const part of [
      "<h3>Title</h3>",
      "<em>two</em>",
      "<ol",
      '<th scope="col">a</th>',
      "<code>1</code>",
      "<blockquote>",
      "let a;",
      "a &amp; b",
    ]
  ) assert.ok(drawn.includes(part), `${part} in ${drawn}`);
  assert.match(drawn, /<input[^>]*checked/);
});

const hostile: readonly (readonly [string, string])[] = [
  ["a script element", "<script>alert(1)</script>"],
  ["an image with a handler", "hi <img src=x onerror=alert(1)> there"],
  ["an inline frame in a list", "- <iframe src='//evil'></iframe>"],
  ["an svg with a handler", "<svg/onload=alert(1)>"],
  ["a style element", "<style>*{display:none}</style>"],
];
for (const [name, text] of hostile) {
  Deno.test(`Markdown shows ${name} as text`, () => {
    const drawn = html(text);

    assert.doesNotMatch(drawn, /<(script|img|iframe|svg|style)/i);
    assert.ok(drawn.includes("&lt;"), drawn);
  });
}

const dead = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\tscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://a/b",
  "//evil.example",
  "/relative",
  "https:",
];
for (const href of dead) {
  Deno.test(`Markdown makes no link of ${JSON.stringify(href)}`, () => {
    assert.equal(safeHref(href), undefined);
    assert.doesNotMatch(html(`[x](<${href}>) ![y](<${href}>)`), /<a |<img/);
  });
}

Deno.test("Markdown links to the web and to mail, and gives the target nothing", () => {
  const drawn = html("[a](https://a.example/x?y=1) <mailto:b@c.example>");

  assert.match(drawn, /href="https:\/\/a\.example\/x\?y=1"/);
  assert.match(drawn, /href="mailto:b@c\.example"/);
  assert.equal(drawn.match(/rel="noopener noreferrer nofollow"/g)?.length, 2);
});

Deno.test("Markdown makes characters that hide visible, in text, code and link text", () => {
  const drawn = html("a\u202eb `c\u200bd` [e\u2066f](https://x.example)");

  for (const escape of ["\\u{202e}", "\\u{200b}", "\\u{2066}"]) assert.ok(drawn.includes(escape), escape);
});

Deno.test("Markdown survives absurd nesting", () => {
  for (
    const text of [">".repeat(5_000) + "x", "[".repeat(5_000), "*a ".repeat(3_000), `${"- ".repeat(1_000)}x`]
  ) {
    assert.ok(html(text).length > 0);
  }
});

Deno.test("Markdown only ever makes elements of its own list", () => {
  const known = new Set(
    "div p h3 h4 h5 hr blockquote pre code ul ol li input table thead tbody tr th td strong em del br a span"
      .split(" "),
  );
  const piece = fc.constantFrom(
    "<b ",
    "<script>",
    "](",
    "[",
    "javascript:",
    "`",
    "*",
    "\n",
    "> ",
    "|",
    "-",
    "&lt;",
    "\\",
    "x",
    '"',
    "\u202e",
  );

  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const drawn = html(pieces.join(""));
      for (const [, name] of drawn.matchAll(/<([a-z0-9]+)/gi)) {
        assert.ok(known.has(name ?? ""), `${name} in ${drawn}`);
      }
      assert.doesNotMatch(drawn, /href="(?!https?:|mailto:)/);
    }),
    { numRuns: 300 },
  );
});

Deno.test("hostile text is escaped and the escapes are marked", () => {
  const text = "safe\u202e<b>\nend";

  const drawn = renderToString(<HostileText text={text} />);

  assert.equal(drawn, 'safe<mark class="escape">\\u{202e}</mark>&lt;b>\nend');
  assert.equal(hasEscapes("plain\n"), false);
  assert.equal(hasEscapes("a\u200b"), true);
});

Deno.test("hostile text on one line shows its line breaks", () => {
  const text = "a\nb";

  assert.ok(renderToString(<HostileText text={text} line />).includes("\\u{a}"));
});

Deno.test("a diff's lines carry their kind and number", () => {
  const lines = diffLines(
    "--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n keep\n-old\n+new\n\\ No newline at end of file\n",
  );

  assert.deepEqual(lines.map((line) => line.kind), [
    "file",
    "file",
    "hunk",
    "context",
    "removed",
    "added",
    "note",
  ]);
  assert.deepEqual(lines[4], { kind: "removed", text: "old", before: 4 });
  assert.deepEqual(lines[5], { kind: "added", text: "new", after: 4 });
  assert.deepEqual(diffCounts(lines), { added: 1, removed: 1 });
});

Deno.test("a diff's content cannot pose as its head", () => {
  const lines = diffLines("--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- b/harmless\n-@@ -1 +1 @@\n+++ b/other\n");

  assert.deepEqual(lines.slice(3).map((line) => line.kind), ["removed", "removed", "added"]);
});

Deno.test("what is no diff comes out whole, as context", () => {
  assert.deepEqual(diffLines("plain\ntext").map((line) => [line.kind, line.text]), [["context", "plain"], [
    "context",
    "text",
  ]]);
});

Deno.test("a long text shows its head and its tail and hides a stated number between", () => {
  const lines = Array.from({ length: 100 }, (_, index) => index);

  const { head, hidden, tail } = headAndTail(lines, 24);

  assert.equal(head.length + hidden + tail.length, 100);
  assert.equal(head[0], 0);
  assert.equal(tail.at(-1), 99);
  assert.equal(headAndTail(lines.slice(0, 26), 24).hidden, 0);
});

Deno.test("spans use the largest unit that fits and countdowns end in seconds", () => {
  assert.deepEqual([0, 59_000, 60_000, 3_600_000, 3 * 86_400_000].map(spanOf), [
    "0 s",
    "59 s",
    "1 min",
    "1 h",
    "3 d",
  ]);
  assert.equal(leftOf(94_000, 0), "1:34");
  assert.equal(leftOf(0, 5), "0:00");
  assert.equal(leftOf(600_000, 0), "10 min");
  assert.equal(ageOf(0, 3_000), "just now");
});

Deno.test("blank space long enough to hide what follows is named and not drawn", () => {
  const gap = " ".repeat(2_000);
  for (const text of [`git status${gap}; rm -rf .`, `git status\n${gap}rm -rf .`, `git status\t\t\trm`]) {
    const drawn = renderToString(<HostileText text={text} />);

    assert.match(drawn, /<mark class="escape blank-run">⟨(2000|3) blanks⟩<\/mark>/, text);
    assert.ok(drawn.length < 200, "the space itself is gone");
  }
  const json = JSON.stringify({ command: `true${"\n".repeat(900)}rm` });
  assert.match(renderToString(<HostileText text={json} />), /true <mark[^>]*>⟨900 blanks⟩<\/mark> rm/);
  const lines = renderToString(<HostileText text={`first${"\n \t".repeat(60)}\nlast`} />);
  assert.match(lines, /first\n<mark[^>]*>⟨60 blank lines⟩<\/mark>\nlast/);
});

Deno.test("indentation, small gaps and paragraphs are drawn as they are", () => {
  const text = `a${" ".repeat(16)}b\n${" ".repeat(40)}c\n\n\n\nd\te`;

  assert.deepEqual(blankParts(text), [{ text }]);
  assert.equal(renderToString(<HostileText text={text} />), text);
});

Deno.test("many blank lines of a preview are one, each kind for itself", () => {
  const blank = (kind: "added" | "context", count: number) =>
    Array.from({ length: count }, () => ({ kind, text: " " }));
  const line = { kind: "context", text: "x" } as const;

  const folded = foldBlankLines([line, ...blank("added", 500), ...blank("context", 2), line]);

  assert.deepEqual(folded.map(({ kind, blankLines }) => [kind, blankLines]), [
    ["context", undefined],
    ["added", 500],
    ["context", undefined],
    ["context", undefined],
    ["context", undefined],
  ]);
});
