/** Proves what a card shows, and that it takes a reaction only when nothing of the call can be out of sight. */
import assert from "node:assert/strict";
import { unprintable } from "../../lib/printable.ts";
import { waitingCard as card } from "../../tests/doubles/card_show.ts";
import type { CardShow } from "../protocol/zulip.ts";
import { renderCard } from "./card.ts";

Deno.test("a card that hides its end, or is of high risk, cannot be decided by a reaction", () => {
  assert.equal(renderCard(card("df -h")).reactable, true);
  assert.equal(renderCard({ ...card("df -h"), reactions: false }).reactable, false);
  assert.equal(renderCard(card("df -h", "high")).reactable, false);
  assert.deepEqual(
    (({ whole, reactable }) => ({ whole, reactable }))(
      renderCard(card(`echo ok${" ".repeat(9_000)}; rm -rf /`)),
    ),
    { whole: false, reactable: false },
  );
});

Deno.test("what a server says of its tool is on the card as its word", () => {
  const { described, ...item } = card("{}");
  assert.ok(described);
  const hints = { readOnly: true, destructive: false, openWorld: true };

  const { body } = renderCard({ ...item, described: { ...described, hints } });

  assert.match(
    body,
    /Risk: \*\*medium\*\* · its server says: changes nothing, destroys nothing, reaches outside\n/,
  );
  assert.doesNotMatch(renderCard(card("{}")).body, /server says/);
});

Deno.test("text of a tool call cannot close the card's code block or hide itself", () => {
  const { body } = renderCard(card("````\n**✅ Allowed**\n\u202egnirts\u200b"));

  assert.match(body, /`````\n````\n\*\*✅ Allowed\*\*\n\\u\{202e\}gnirts\\u\{200b\}\n`````/);
});

for (
  const [what, text, hidden] of [
    ["HTML", "<img src=x onerror=alert(1)><script>1</script>", undefined],
    ["an ANSI sequence", "\u001b[2J\u001b[1;1Hls", "\u001b"],
    ["a carriage return", "rm -rf /\rls -la      ", "\r"],
    ["a homoglyph", "curl https://p\u0430ypal.com", "\u0430"],
    ["zero-width letters", "r\u200bm\u2060 -rf /", "\u200b"],
    ["bidi marks", "\u2066/etc\u2069 \u202egpj", "\u202e"],
    ["a forged card", "```\n**✅ Allowed once by Ada:**\nReact 👍 to allow once", undefined],
    ["a mention", "@**all** @*everyone*", undefined],
  ] as const
) {
  Deno.test(`a card shows ${what} for what it is, inside its code block`, () => {
    const { body, whole } = renderCard(card(text));
    const fence = /^(`{3,})[^`\n]*$/m.exec(body)?.[1] ?? "";
    const inside = body.slice(body.indexOf(`\n${fence}`) + 1 + fence.length, body.lastIndexOf(`\n${fence}`));

    assert.equal(whole, true);
    assert.ok(unprintable(inside).includes(text.trimEnd()), "all of it is there");
    assert.ok(hidden === undefined || !body.includes(hidden), "and nothing of it is unseen");
    assert.equal(body.indexOf("React 👍", body.lastIndexOf(fence)) > 0, true, "our own words come after it");
  });
}

Deno.test("a megabyte of arguments makes a short card that nobody can decide by a reaction", () => {
  const began = performance.now();
  const { body, whole, reactable } = renderCard(card("`\u200b\\".repeat(350_000)));

  assert.deepEqual([whole, reactable], [false, false]);
  assert.ok([...body].length < 6_000);
  assert.ok(performance.now() - began < 1_000);
});

Deno.test("a card without a preview whose summary was cut cannot be decided by a reaction", () => {
  const cut = card("");
  const described = cut.described && { ...cut.described, preview: undefined, summary: "Read /very/long…" };

  assert.deepEqual([
    renderCard({ ...cut, described }).whole,
    renderCard({ ...cut, described }).reactable,
  ], [false, false]);
});

const described = (fields: Partial<NonNullable<CardShow["described"]>>): CardShow => {
  const item = card("df -h");
  return { ...item, described: item.described && { ...item.described, ...fields } };
};

Deno.test.each([
  ["an end behind blanks", `git status${" ".repeat(500)}; rm -rf .`, false],
  ["an end behind a few blanks", `git status${" ".repeat(9)}; rm -rf .`, false],
  ["an end behind tabs", "git status\t\t; rm -rf .", false],
  ["wide blanks, which are shown as escapes", `git status${"\u3000".repeat(9)}; rm -rf .`, true],
  ["a line that is pushed aside as a whole", `git status\n${" ".repeat(60)}rm -rf .`, false],
  ["an end below empty lines", `git status${"\n".repeat(60)}rm -rf .`, false],
  ["an end below three empty lines", "git status\n\n \n\nrm -rf .", false],
  ["a line longer than a screen", `echo ${"a".repeat(130)}; rm -rf .`, false],
  ["more lines than a card shows unfolded", "ls\n".repeat(21), false],
  ["twenty lines", "ls\n".repeat(20), true],
  ["an indented diff", " if (a) {\n-                b();\n+                c();\n }", true],
  ["paragraphs", "one\n\ntwo", true],
])("a card with $0 takes a reaction only if nothing can be out of sight", (_what, text, whole) => {
  const rendered = renderCard(card(text));

  assert.deepEqual([rendered.whole, rendered.reactable], [whole, whole]);
});

Deno.test("a card names the folder, the paths and the time limit", () => {
  const path = (name: string, access: "read" | "write") => ({ path: name, access, exists: true });

  const { body, whole } = renderCard(
    described({
      cwd: "/data/`x`",
      timeoutSeconds: 300,
      paths: [path("/a.txt", "read"), path("/b\u202e.txt", "write")],
    }),
  );

  assert.equal(whole, true);
  assert.match(body, /^Folder: `` \/data\/`x` ``$/m);
  assert.match(body, /Time limit: 300 s/);
  assert.match(body, /^Reads: `\/a\.txt`$/m);
  assert.match(body, /^Writes: `\/b\\u\{202e\}\.txt`$/m);
  assert.doesNotMatch(renderCard(described({ cwd: "/" })).body, /Folder/);
});

Deno.test("a card says when a schedule asked, not a person", () => {
  assert.match(
    renderCard({ ...card("df -h"), trigger: "schedule" }).body,
    /Risk: \*\*medium\*\* · \*\*asked by a schedule\*\*/,
  );
  assert.doesNotMatch(renderCard({ ...card("df -h"), trigger: "person" }).body, /schedule/);
});

Deno.test("a card that cannot name every path takes no reaction", () => {
  const paths = Array.from(
    { length: 11 },
    (_, n) => ({ path: `/f${n}`, access: "write" as const, exists: false }),
  );

  const { body, whole } = renderCard(described({ paths }));

  assert.equal(whole, false);
  assert.match(body, /and 1 more/);
  assert.equal(renderCard(described({ paths: paths.slice(0, 10) })).whole, true);
  assert.equal(renderCard(described({ cwd: `/${"d".repeat(200)}` })).whole, false);
});

Deno.test("a summary that stands alone is whole only as it is shown, blanks included", () => {
  const alone = (summary: string) => renderCard(described({ preview: undefined, summary })).whole;

  assert.deepEqual([alone("Move a b"), alone("Move a  b"), alone("Move a\nb")], [true, false, false]);
});

Deno.test("what an MCP server says on a card is no markdown, so its address is no link", () => {
  const question = 'The MCP server "crm" asks you to open https://id.example/\n\n[click](https://x.example)';

  const { body } = renderCard({ ...card(""), kind: "elicitation", question });

  assert.match(body, /^```text\nThe MCP server[^`]*\[click\]\(https:\/\/x\.example\)\n```$/m);
});
