/**
 * What is kept of a long output: its beginning and its end, with a line between them that says how much is missing. Cuts only between
 * characters, never inside one. Pure. Proven by `output_test.ts`.
 */

/** How many characters of one call's output the model is shown: about 10,000 tokens. */
export const MODEL_CHARS = 40_000;

/** Keeps the first and the last half of `limit` characters of what is added. */
export class HeadTail {
  readonly #half: number;
  #head = "";
  #tail = "";
  #total = 0;

  constructor(limit = MODEL_CHARS) {
    this.#half = Math.floor(limit / 2);
  }

  /** Characters (UTF-16 units) that were added in all. */
  get total(): number {
    return this.#total;
  }

  add(text: string): void {
    this.#total += text.length;
    const room = this.#half - this.#head.length;
    const cut = room >= text.length || this.#tail !== "" ? Math.max(0, room) : border(text, room);
    if (this.#tail === "" && cut > 0) this.#head += text.slice(0, cut);
    const rest = this.#tail === "" ? text.slice(cut) : text;
    if (rest === "") return;
    this.#tail += rest;
    // Trimmed only when twice too long, so that many small additions stay cheap.
    if (this.#tail.length > 2 * this.#half) this.#tail = this.#end();
  }

  /** The text with its note, if anything was cut. */
  text(): string {
    const end = this.#end();
    const missing = this.#total - this.#head.length - end.length;
    if (missing <= 0) return this.#head + end;
    return `${this.#head}\n[… ${missing} of ${this.#total} characters were cut here and not kept …]\n${end}`;
  }

  #end(): string {
    if (this.#tail.length <= this.#half) return this.#tail;
    const start = this.#tail.length - this.#half;
    return this.#tail.slice(isLowSurrogate(this.#tail, start) ? start + 1 : start);
  }
}

/** Cuts a text to its head and tail in one go. */
export function headTail(text: string, limit = MODEL_CHARS): string {
  if (text.length <= limit) return text;
  const kept = new HeadTail(limit);
  kept.add(text);
  return kept.text();
}

function border(text: string, at: number): number {
  return Math.max(0, isLowSurrogate(text, at) ? at - 1 : at);
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
