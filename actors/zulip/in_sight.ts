/**
 * Whether text in a card's code block can be taken in without scrolling. Zulip scrolls long lines sideways and folds tall messages, so what stands
 * behind many blanks, below empty lines, at the end of a long line or far down may never have been seen. Errs towards no: the inbox shows all of it.
 * Pure; expects text that went through `printable`. Proven by `card_test.ts`.
 */

const MAX_LINES = 20;
const MAX_COLUMNS = 120;
/** Blanks within a line or at its end. */
const MAX_GAP = 8;
/** Blanks before a line's text; code is indented. */
const MAX_INDENT = 24;
/** Empty lines in a row. */
const MAX_EMPTY_LINES = 2;
/** Columns of a tab in Zulip's code blocks. */
const TAB = "        ";

/** Whether nothing of the text can be out of sight. */
export function isInSight(text: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.length <= MAX_LINES && lines.every(isLineInSight) && emptyRun(lines) <= MAX_EMPTY_LINES;
}

/** The same of one line. */
export function isLineInSight(line: string): boolean {
  const wide = line.replaceAll("\t", TAB);
  // A diff's sign stands before the indentation.
  const [, indent = "", rest = ""] = /^[+-]?(\s*)(.*)$/su.exec(wide) ?? [];
  return [...wide].length <= MAX_COLUMNS && indent.length <= MAX_INDENT &&
    !new RegExp(`\\s{${MAX_GAP + 1}}`, "u").test(rest);
}

function emptyRun(lines: readonly string[]): number {
  let run = 0;
  let longest = 0;
  for (const line of lines) {
    run = line.trim() === "" ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
