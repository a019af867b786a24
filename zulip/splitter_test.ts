import assert from "node:assert/strict";
import fc from "fast-check";
import { splitTranscript } from "./splitter.ts";

/** Text that likes to break: fences, long lines, astral characters, lone surrogates. */
const transcript = fc.array(
  fc.oneof(
    fc.constantFrom("```\n", "```ts\n", "````md\n", "\n", "\n\n", "```", "`", "😀", "\ud83d", " ", "text "),
    fc.string({ unit: "binary", maxLength: 90 }),
    fc.string({ unit: "grapheme", minLength: 40, maxLength: 400 }),
  ),
  { maxLength: 40, size: "max" },
).map((parts) => parts.join(""));

const budget = fc.integer({ min: 220, max: 700 });

Deno.test("splitter loses nothing and keeps every body within the budget", () => {
  fc.assert(fc.property(transcript, budget, (text, budget) => {
    const pieces = splitTranscript(text, { budget });

    assert.equal(pieces.map((piece) => piece.raw).join(""), text);
    for (const piece of pieces) {
      assert.ok([...piece.body].length <= budget);
      assert.ok(piece.body.includes(piece.raw));
    }
    assert.deepEqual(pieces.map((piece) => piece.sealed), pieces.map((_, n) => n < pieces.length - 1));
    assert.ok(pieces.slice(0, -1).every((piece) => piece.raw.length > 0));
  }));
});

Deno.test("splitter never changes a sealed piece when the transcript grows", () => {
  fc.assert(fc.property(transcript, budget, fc.nat(), (text, budget, at) => {
    const whole = splitTranscript(text, { budget });
    const early = splitTranscript(text.slice(0, at % (text.length + 1)), { budget });

    assert.deepEqual(early.slice(0, -1), whole.slice(0, early.length - 1));
  }));
});

Deno.test("splitter balances the fences of every sealed body", () => {
  fc.assert(fc.property(transcript, budget, (text, budget) => {
    for (const piece of splitTranscript(text, { budget }).slice(0, -1)) {
      assert.equal(openFence(piece.body), null);
    }
  }));
});

/** A second, independent reading of the fence rules. */
function openFence(body: string): string | null {
  return body.split("\n").map((line) => line.trim()).reduce<string | null>((open, line) => {
    if (open !== null) return line === open ? null : open;
    const run = line.match(/^`+/)?.[0] ?? "";
    return run.length >= 3 && run.length <= 8 && !line.slice(run.length).includes("`") ? run : null;
  }, null);
}

Deno.test("splitter reopens a cut code block with its language", () => {
  const code = "```ts\n" + "const x = 1;\n".repeat(40) + "```\nafter";

  const [first, second] = splitTranscript(code, { budget: 300 });

  assert.ok(first?.body.endsWith("const x = 1;\n```\n\n*(continued below)*"));
  assert.ok(second?.body.startsWith("*(continued from above)*\n\n```ts\nconst x = 1;\n"));
});

Deno.test("splitter counts code points, so an astral character costs one", () => {
  assert.equal(splitTranscript("😀".repeat(9_500)).length, 1);
  assert.equal(splitTranscript("😀".repeat(9_501)).length, 2);
});

Deno.test.each([
  ["a word", "lorem ipsum ".repeat(60), /^(?:lorem ipsum )+(?:lorem )?$/],
  ["a family of joined emoji", "👨‍👩‍👧‍👦".repeat(80), /^(?:👨‍👩‍👧‍👦)+$/u],
  ["a flag", `.${"🇩🇪".repeat(300)}`, /^\.(?:🇩🇪)+$/u],
  ["a letter with its marks", "e\u0301".repeat(300), /^(?:e\u0301)+$/u],
])("splitter without a line to cut at does not cut $0 in two", (_what, text, whole) => {
  for (let budget = 300; budget < 312; budget++) {
    const pieces = splitTranscript(text, { budget });

    assert.ok(pieces.length > 1);
    assert.match(pieces[0]?.raw ?? "", whole);
    assert.equal(pieces.map(({ raw }) => raw).join(""), text);
  }
});

Deno.test("splitter tells which fence the last piece leaves open", () => {
  assert.equal(splitTranscript("look:\n```sh\nls").at(-1)?.openFence, "```");
  assert.equal(splitTranscript("").at(-1)?.openFence, null);
});

Deno.test("splitter refuses a budget that the server would cut or that leaves no room", () => {
  assert.throws(() => splitTranscript("x", { budget: 10_001 }), RangeError);
  assert.throws(() => splitTranscript("x", { budget: 100 }), RangeError);
});
