/** Proves that hostile text is shown for what it is, and that no two texts look the same because of the escaper. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { printable, printableLine, unprintable } from "./printable.ts";

const hostile: readonly (readonly [what: string, text: string, shown: string])[] = [
  ["a right-to-left override", "gpj\u202eexe", "gpj\\u{202e}exe"],
  ["a bidi isolate", "\u2066x\u2069", "\\u{2066}x\\u{2069}"],
  ["a zero-width space", "rm\u200b -rf", "rm\\u{200b} -rf"],
  ["a zero-width joiner", "a\u200db", "a\\u{200d}b"],
  ["an ANSI escape", "\u001b[2Kok", "\\u{1b}[2Kok"],
  ["a carriage return that hides a line", "rm -rf /\rls", "rm -rf /\\u{d}ls"],
  ["tag characters", "hi\u{e0041}", "hi\\u{e0041}"],
  ["a Cyrillic letter in a Latin word", "p\u0430ypal", "p\\u{430}ypal"],
  ["full-width letters in a Latin word", "r\uff4d", "r\\u{ff4d}"],
  ["a blank that is no blank", "a\u3164b", "a\\u{3164}b"],
  ["a no-break space", "a\u00a0b", "a\\u{a0}b"],
  ["a lone surrogate", "a\ud800b", "a\\u{d800}b"],
  ["a forged escape", "\\u{200b}", "\\\\u{200b}"],
  ["HTML, which is text", "<img src=x>", "<img src=x>"],
  ["a family, joined", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"],
  [
    "a heart that is asked to be red, and a flag with tags",
    "❤\ufe0f 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "❤\ufe0f 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ],
  ["a joiner behind an emoji", "👨\u200d", "👨\\u{200d}"],
  ["joiners that join what is no emoji together", "👨\u200d🍕", "👨\\u{200d}🍕"],
  ["a second joiner, and a sequence behind it", "👨\u200d\u200d👩\u200d👧", "👨\\u{200d}\\u{200d}👩\u200d👧"],
  ["tags that spell no flag", "🏴\u{e0041}\u{e007f}", "🏴\\u{e0041}\\u{e007f}"],
  ["a selector behind a letter", "a\ufe0f", "a\\u{fe0f}"],
  ["a word that is Greek as a whole", "λόγος and logos", "λόγος and logos"],
];

for (const [what, text, shown] of hostile) {
  Deno.test(`printable shows ${what}`, () => assert.equal(printable(text), shown));
}

Deno.test("printable keeps line breaks and tabs, printableLine does not", () => {
  assert.equal(printable("a\n\tb"), "a\n\tb");
  assert.equal(printableLine("a\n\tb"), "a\\u{a}\\u{9}b");
});

Deno.test("what printable shows gives the text back: it is injective", () => {
  const unit = fc.oneof(
    fc.constantFrom(
      "\\",
      "u",
      "{",
      "}",
      "u{",
      "\\u{200b}",
      "\u200b",
      "\u202e",
      "а",
      "a",
      "\n",
      "e\u0301\u0301\u0301\u0301\u0301",
      "👨",
      "👩",
      "👧",
      "❤",
      "🏴",
      "\u200d",
      "\ufe0f",
      "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom("\ud800", "\udc00"),
  );
  const text = fc.array(unit, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (original) => {
      assert.equal(unprintable(printable(original)), original);
      assert.equal(unprintable(printableLine(original)), original);
      assert.match(printableLine(original).replace(/\p{RGI_Emoji}/gv, ""), /^[^\p{C}\p{Zl}\p{Zp}]*$/u);
    }),
    { numRuns: 500 },
  );
});

Deno.test("printable takes a megabyte without effort", () => {
  const text = "\\".repeat(500_000) + "\u200b" + "a".repeat(500_000);

  assert.equal(unprintable(printable(text)).length, text.length);
});
