/**
 * Blank space long enough to push what follows it out of sight: found here, so that the view can say how long it is instead of drawing it. Indentation may
 * be deeper than a gap within a line. Pure. Proven by `render_test.tsx`.
 */
import type { DiffLine } from "./diff_lines.ts";

/** Columns. */
const MAX_INDENT = 40;
const MAX_GAP = 16;
const TAB_COLUMNS = 8;
/** Blank lines in a row that are drawn as they are. */
const MAX_LINES = 3;

/** The last is blank space as JSON writes it within a string. */
const RUN = /\n(?:[ \t]*\n)+|[ \t]{3,}|(?:\\[nrt][ \t]*){9,}/g;

/** Blank space that is not drawn: so many spaces and tabs, or so many lines. */
export interface BlankRun {
  readonly kind: "blanks" | "lines";
  readonly count: number;
}

/** A piece of a text: drawn as it is, or blank space that is only named. */
export interface TextPart {
  readonly text: string;
  readonly blank?: BlankRun;
}

/** The text in pieces; one piece when it has no long blank space. */
export function blankParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const blank = runOf(run, index === 0 || text[index - 1] === "\n");
    if (!blank) continue;
    if (index > from) parts.push({ text: text.slice(from, index) });
    parts.push({ text: run, blank });
    from = index + run.length;
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from) });
  return parts;
}

function runOf(run: string, isIndent: boolean): BlankRun | undefined {
  if (run.startsWith("\n")) {
    const count = run.split("\n").length - 2;
    return count > MAX_LINES ? { kind: "lines", count } : undefined;
  }
  if (run.startsWith("\\")) return { kind: "blanks", count: run.replace(/\\[nrt]/g, " ").length };
  const columns = [...run].reduce((sum, character) => sum + (character === "\t" ? TAB_COLUMNS : 1), 0);
  return columns > (isIndent ? MAX_INDENT : MAX_GAP) ? { kind: "blanks", count: run.length } : undefined;
}

/** A line, or many blank ones of the same kind in its place. */
export interface FoldedLine extends DiffLine {
  readonly blankLines?: number;
}

/** Lines with every long run of blank ones as one. */
export function foldBlankLines(lines: readonly DiffLine[]): FoldedLine[] {
  const folded: FoldedLine[] = [];
  let run: DiffLine[] = [];
  const end = () => {
    const [first] = run;
    if (first && run.length > MAX_LINES) folded.push({ ...first, text: "", blankLines: run.length });
    else folded.push(...run);
    run = [];
  };
  for (const line of lines) {
    const isBlank = line.text.trim() === "";
    if (!isBlank || run[0] !== undefined && run[0].kind !== line.kind) end();
    if (isBlank) run.push(line);
    else folded.push(line);
  }
  end();
  return folded;
}
