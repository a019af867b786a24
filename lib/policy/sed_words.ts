/**
 * Whether a `sed` command only prints and replaces. Its scripts can run commands and write files by a single letter in many places, so only a few
 * plain forms count as harmless. Proven by `shell_line_test.ts`.
 */

const OPTION =
  /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|help|version))$/;
const ADDRESS = String.raw`(?:\d+|\$)(?:,(?:\d+|\$))?`;
const PRINT = new RegExp(`^(?:${ADDRESS})?[pdq=]$`);
const REPLACE = new RegExp(
  String.raw`^(?:${ADDRESS})?s([^\\\n;\w\s])(?:(?!\1)[^\\\n])*\1(?:(?!\1)[^\\\n])*\1[gIip0-9]*$`,
);

/** Whether these words after `sed` may do more than print. */
export function sedEvaluates(words: readonly string[]): boolean {
  const at = words.findIndex((word) => !word.startsWith("-"));
  const options = at < 0 ? words : words.slice(0, at);
  if (!options.every((word) => OPTION.test(word))) return true;
  const [script, ...files] = at < 0 ? [] : words.slice(at);
  // GNU sed takes options after its script, too.
  if (files.some((word) => word.startsWith("-") && word !== "-" && !OPTION.test(word))) return true;
  return script !== undefined && !PRINT.test(script) && !REPLACE.test(script);
}
