/**
 * Previews of a change as a unified diff. The only importer of `diff`.
 */
import { createTwoFilesPatch } from "diff";

/** Largest preview, in characters; a longer one says how much is missing. */
const MAX_CHARS = 200_000;
/** Beyond this a diff is not found in reasonable time; the change is then shown as a replacement. */
const MAX_EDITS = 5_000;

/** The change of one file. `before` undefined: the file is new. */
export function diffOf(path: string, before: string | undefined, after: string): string {
  const from = before === undefined ? "/dev/null" : `a${path}`;
  const patch = createTwoFilesPatch(from, `b${path}`, before ?? "", after, "", "", {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  const text = patch?.replace(/^=+\n/, "") ?? `The whole of ${path} is replaced by:\n${after}`;
  if (text.length <= MAX_CHARS) return text;
  return `${text.slice(0, MAX_CHARS)}\n[… ${text.length - MAX_CHARS} more characters are not shown …]\n`;
}
