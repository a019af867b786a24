/**
 * Output of a running process on its way to live viewers: decoded across chunk borders, joined for up to 50 ms, sent in pieces of at most
 * 8 KiB, at most 10,000 of them; after that it is silent while collecting goes on. Proven by `output_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { Stream } from "./process.ts";

/** Largest piece, in characters chosen so that its UTF-8 form stays below 8,192 bytes. */
const PIECE_CHARS = 2_700;
const MAX_PIECES = 10_000;
const JOIN_MS = 50;

/** Where pieces go. */
export type Emit = (stream: Stream, chunk: string) => void;

/** One process's output. `collect` sees all of it, `emit` the coalesced pieces. */
export class LiveOutput {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #waiting = { stdout: "", stderr: "" };
  #cancel: (() => void) | undefined;
  #pieces = 0;

  constructor(
    private readonly clock: Clock,
    private readonly collect: (text: string) => void,
    private readonly emit: Emit,
  ) {}

  add(stream: Stream, bytes: Uint8Array): void {
    this.#take(stream, this.#decoders[stream].decode(bytes, { stream: true }));
    this.#cancel ??= this.clock.after(JOIN_MS, () => this.#flush());
  }

  /** The process ended: sends what is left. */
  end(): void {
    this.#take("stdout", this.#decoders.stdout.decode());
    this.#take("stderr", this.#decoders.stderr.decode());
    this.#flush();
  }

  #take(stream: Stream, text: string): void {
    if (text === "") return;
    this.collect(text);
    if (this.#pieces < MAX_PIECES) this.#waiting[stream] += text;
    while (this.#waiting[stream].length >= PIECE_CHARS) this.#send(stream);
  }

  #send(stream: Stream): void {
    const text = this.#waiting[stream];
    const cut = /[\uD800-\uDBFF]$/.test(text.slice(0, PIECE_CHARS)) ? PIECE_CHARS - 1 : PIECE_CHARS;
    this.#waiting[stream] = text.slice(cut);
    if (this.#pieces++ < MAX_PIECES) this.emit(stream, text.slice(0, cut));
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const stream of ["stdout", "stderr"] as const) {
      while (this.#waiting[stream] !== "") this.#send(stream);
    }
  }
}
