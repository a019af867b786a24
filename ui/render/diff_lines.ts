/**
 * A unified diff as lines with a meaning, so that the view only has to colour them. Tolerant: what is no diff comes out as context. Pure. Proven by
 * `render_test.tsx`.
 */

/** What a line of a diff is. */
export type DiffLineKind = "file" | "hunk" | "added" | "removed" | "context" | "note";

/** One line without its marker. `before` and `after` are its numbers in the two files. */
export interface DiffLine {
  readonly kind: DiffLineKind;
  readonly text: string;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Reads a diff. Inside a hunk the marker alone decides, for as many lines as the hunk's head announces: a removed line that begins with `-- ` is
 * not taken for a file name.
 */
export function diffLines(text: string): DiffLine[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const found: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let leftBefore = 0;
  let leftAfter = 0;
  for (const line of lines) {
    const hunk = HUNK.exec(line);
    const body = line.slice(1);
    if (leftBefore > 0 || leftAfter > 0) {
      if (line.startsWith("\\")) found.push({ kind: "note", text: line });
      else if (line.startsWith("+")) {
        found.push({ kind: "added", text: body, after: after++ });
        leftAfter -= 1;
      } else if (line.startsWith("-")) {
        found.push({ kind: "removed", text: body, before: before++ });
        leftBefore -= 1;
      } else {
        found.push({ kind: "context", text: body, before: before++, after: after++ });
        leftBefore -= 1;
        leftAfter -= 1;
      }
    } else if (hunk) {
      before = Number(hunk[1]);
      leftBefore = Number(hunk[2] ?? 1);
      after = Number(hunk[3]);
      leftAfter = Number(hunk[4] ?? 1);
      found.push({ kind: "hunk", text: line });
    } else if (/^(--- |\+\+\+ )/.test(line)) found.push({ kind: "file", text: line });
    else found.push({ kind: line.startsWith("\\") ? "note" : "context", text: line });
  }
  return found;
}

/** How many lines come and go. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLineKind) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** The first and the last lines, and how many lie between: a long text never hides its end. */
export function headAndTail<T>(lines: readonly T[], max: number): { head: T[]; hidden: number; tail: T[] } {
  if (lines.length <= max + 2) return { head: [...lines], hidden: 0, tail: [] };
  const tail = Math.max(1, Math.floor(max / 3));
  return {
    head: lines.slice(0, max - tail),
    hidden: lines.length - max,
    tail: lines.slice(-tail),
  };
}
