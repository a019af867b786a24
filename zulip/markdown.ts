/**
 * Raw Zulip Markdown written by us around text that is not ours.
 *
 * Promises: text put through `codeBlock` or `codeSpan` cannot end its own fence; `guardCommand` keeps an answer that begins like `/poll ` from becoming a
 * widget. Zulip has no backslash escapes, so literal text stands in code. Pure. Proved by `text_test.ts`.
 */

/** A fenced block. The fence is longer than any run of backticks in `text`. */
export function codeBlock(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** `text` on one line, shown literally: names, paths and commands that may hold Markdown. */
export function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const fence = "`".repeat(longestRun(line) + 1);
  const pad = line.startsWith("`") || line.endsWith("`") || line === "" ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A block that the reader opens. */
export function spoiler(header: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}spoiler ${header.replace(/[\s`]+/g, " ").trim()}\n${text}${
    text.endsWith("\n") ? "" : "\n"
  }${fence}`;
}

/** Zulip reads `/poll `, `/todo ` and `/me ` at the very start of a message as commands; a zero-width space in front makes them text. */
export function guardCommand(text: string): string {
  return /^\s*\/(?:poll|todo|me)\b/i.test(text) ? `\u200b${text.trimStart()}` : text;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
}
