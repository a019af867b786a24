/**
 * Text that came from a model, a tool or a file, shown so that nothing in it can hide: `lib/printable.ts` escapes it, and the escapes are marked so
 * that an eye stops at them. Proven by `render_test.tsx`.
 */
import type { ComponentChildren } from "preact";
import { printable, printableLine } from "../../lib/printable.ts";

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
  if (!escaped.includes("\\u{")) return escaped;
  return escaped.split(ESCAPE).map((part, index) =>
    index % 2 === 1 ? <mark key={index} class="escape">{part}</mark> : part
  );
}
