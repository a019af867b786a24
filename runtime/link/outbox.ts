/**
 * Writes entries to a byte sink, many to a frame: while one write is under way the next entries gather. Promises order. A sink that fails
 * is told of once; what waits is dropped, because a peer that cannot be written to is about to be seen dead. Proven by `frames_test.ts`.
 */
import type { Entry, FrameWriter } from "./frames.ts";

/** Where bytes go, for example a socket. */
export interface Sink {
  write(bytes: Uint8Array): Promise<unknown>;
}

const MAX_FRAME_CHARS = 4 << 20;

/** Gathers and writes. */
export class Outbox {
  readonly #sink: Sink;
  readonly #frames: FrameWriter;
  readonly #onFailure: (error: unknown) => void;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  #failed = false;

  constructor(sink: Sink, frames: FrameWriter, onFailure: (error: unknown) => void) {
    this.#sink = sink;
    this.#frames = frames;
    this.#onFailure = onFailure;
  }

  /** Queues one entry. Never blocks and never throws. */
  send(slot: number, text: string): void {
    if (this.#failed) return;
    this.#waiting.push({ slot, text });
    this.#writing ??= this.#drain();
  }

  /** Resolves when everything queued so far was written or dropped. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async #drain(): Promise<void> {
    // One turn later, so that entries sent in the same turn share a frame.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) await this.#sink.write(this.#frames.frame(this.#take()));
    } catch (error) {
      this.#failed = true;
      this.#waiting = [];
      this.#onFailure(error);
    } finally {
      this.#writing = undefined;
    }
  }

  #take(): Entry[] {
    let count = 0;
    for (let chars = 0; count < this.#waiting.length && chars < MAX_FRAME_CHARS; count++) {
      chars += this.#waiting[count]?.text.length ?? 0;
    }
    return this.#waiting.splice(0, count);
  }
}
