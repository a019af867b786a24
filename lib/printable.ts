/**
 * One escaper for text that is not ours, on every surface (web, Zulip, push). What cannot be seen, what turns the reading direction, and letters
 * of another script hidden in a Latin word become visible `\u{…}` escapes; backslashes before what could be taken for one are doubled.
 * The result is printable, keeps line breaks and tabs, and is injective: `unprintable` gives the text back, so two different texts never
 * look the same because of this function. A whole word in a look-alike script stays as it is, and so does an emoji that Unicode recommends, joiners
 * included: what joins its parts is seen in the picture. Pure. Proven by `printable_test.ts`.
 */

/**
 * Controls (but newline and tab), format characters (bidi marks, zero-width, soft hyphen, tags), lone surrogates, private use, unassigned,
 * separators other than the plain space, and the fillers that fonts draw as nothing.
 */
const UNSEEN =
  // deno-lint-ignore no-control-regex -- these are the characters that must be shown.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

/** Emoji as they may be exchanged, whole sequences; null where the engine does not know them, and then their joiners are marked like any other. */
const EMOJI = emojiPattern();
/** What only a sequence can hide. */
const JOINERS = /[\u200d\ufe0f\u{e0020}-\u{e007f}]/u;

/** Words, in the sense of what an eye takes as one: letters, marks and digits. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts with letters that look like Latin ones, and Latin letters in costume (full width, mathematical). */
const LOOK_ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\uff10-\uff5a\u{1d400}-\u{1d7ff}\u0131\u0251\u0261]/u;
const PLAIN_LATIN = /[A-Za-z]/;
/** A pile of marks that covers its neighbours; no language stacks more than four. */
const MAX_MARKS = 4;

/** Makes every character of `text` visible. */
export function printable(text: string): string {
  return escape(text, false);
}

/** The same on one line: line breaks and tabs are escaped too. */
export function printableLine(text: string): string {
  return escape(text, true);
}

/** The text that `printable` or `printableLine` was given. */
export function unprintable(shown: string): string {
  return shown.replace(/(\\+)u\{([0-9a-f]*)(\}?)/g, (whole, slashes: string, hex: string, end: string) => {
    const half = "\\".repeat(Math.floor(slashes.length / 2));
    if (slashes.length % 2 === 0) return `${half}u{${hex}${end}`;
    return hex === "" || end === "" ? whole : half + String.fromCodePoint(parseInt(hex, 16));
  });
}

function escape(text: string, oneLine: boolean): string {
  const disguised = disguisedAt(text);
  const drawn = drawnAt(text);
  const parts: string[] = [];
  let slashes = 0;
  let at = 0;
  let marks = 0;
  for (const character of text) {
    marks = isMark(character) ? marks + 1 : 0;
    const shown = UNSEEN.test(character) && !drawn.has(at) || disguised.has(at) || marks > MAX_MARKS ||
      oneLine && (character === "\n" || character === "\t");
    at += character.length;
    if (character === "\\") {
      slashes++;
      continue;
    }
    const like = shown || character === "u" && text[at] === "{";
    if (slashes > 0) parts.push("\\".repeat(like ? slashes * 2 : slashes));
    slashes = 0;
    parts.push(shown ? `\\u{${character.codePointAt(0)?.toString(16)}}` : character);
  }
  if (slashes > 0) parts.push("\\".repeat(slashes));
  return parts.join("");
}

function isMark(character: string): boolean {
  return character > "\u02ff" && /\p{M}/u.test(character);
}

/** Where in the text a joiner is a part of an emoji that is drawn as one. */
function drawnAt(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (EMOJI === null || !JOINERS.test(text)) return found;
  for (const { 0: sequence, index } of text.matchAll(EMOJI)) {
    for (let at = 0; at < sequence.length; at++) found.add(index + at);
  }
  return found;
}

function emojiPattern(): RegExp | null {
  try {
    return new RegExp("\\p{RGI_Emoji}", "gv");
  } catch {
    return null;
  }
}

/** Where in the text a letter of another script stands in a word with plain Latin letters. */
function disguisedAt(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!LOOK_ALIKE.test(text)) return found;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!PLAIN_LATIN.test(word)) continue;
    let at = index;
    for (const character of word) {
      if (LOOK_ALIKE.test(character)) found.add(at);
      at += character.length;
    }
  }
  return found;
}
