/**
 * Text that came from a model, a tool or a file, shown so that nothing in it can hide: `lib/printable.ts` escapes it, and the escapes are marked so
 * that an eye stops at them. Long blank space, which would push what follows out of sight, is shown as a mark that says how long it is. Proven by
 * `render_test.tsx`.
 */
import type { ComponentChildren } from "preact";
import { printable, printableLine } from "../../lib/printable.ts";
import { strings } from "../strings.ts";
import { blankParts, type BlankRun } from "./blanks.ts";

const ESCAPE = /(\\{1,2}u\{[0-9a-f]*\}?)/;

/** Escaped text with marked escapes. `line`: line breaks are escaped too. */
export function HostileText({ text, line = false }: { readonly text: string; readonly line?: boolean }) {
  return <>{marked(line ? printableLine(text) : printable(text))}</>;
}

/** Whether anything in `text` had to be escaped. */
export function hasEscapes(text: string): boolean {
  return printable(text) !== text;
}

function marked(escaped: string): ComponentChildren {
  const parts = blankParts(escaped);
  const isPlain = parts.length === 1 && parts[0]?.blank === undefined;
  if (isPlain && !escaped.includes("\\u{")) return escaped;
  return parts.map(({ text, blank }, index) =>
    blank === undefined ? escapesIn(text) : <Blank key={index} {...blank} />
  );
}

function escapesIn(text: string): ComponentChildren {
  return text.split(ESCAPE).map((part, index) =>
    index % 2 === 1 ? <mark key={index} class="escape">{part}</mark> : part
  );
}

interface BlankProps extends BlankRun {
  /** It stands in a line of its own already. */
  readonly inLine?: boolean;
}

/** Blank space that is not drawn, as a mark. */
export function Blank({ kind, count, inLine = false }: BlankProps) {
  const around = inLine ? "" : kind === "lines" ? "\n" : " ";
  return (
    <>
      {around}
      <mark class="escape blank-run">{strings.inbox.blank[kind](count)}</mark>
      {around}
    </>
  );
}
