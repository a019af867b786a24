/**
 * One escaper for text that is not ours, on every surface (web, Zulip, push). Invisible and direction-changing characters become visible
 * `\u{…}` escapes; a literal backslash that could be taken for one is doubled. The result is printable, keeps line breaks and tabs, and is
 * injective: two different texts never look the same because of this function. Pure. Proven by `actors/zulip/intake_test.ts`.
 */

/**
 * Controls (but newline and tab), format characters (bidi marks, zero-width, soft hyphen, tags), lone surrogates, private use, unassigned,
 * separators other than the plain space, and the fillers that fonts draw as nothing.
 */
const UNPRINTABLE =
  // deno-lint-ignore no-control-regex -- these are the characters that must be shown.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Makes every character of `text` visible. */
export function printable(text: string): string {
  return text
    .replaceAll("\\u{", "\\\\u{")
    .replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same on one line: line breaks and tabs are escaped too. */
export function printableLine(text: string): string {
  return printable(text).replaceAll("\n", "\\u{a}").replaceAll("\t", "\\u{9}");
}
