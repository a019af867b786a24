/**
 * Waiting for "something changed" or for time to pass, whichever is first. One wake reaches everyone who waits at that moment; a wake that
 * nobody waits for is not kept, so callers look at the rows before they wait.
 */
import type { Clock } from "../lib/clock.ts";

/** One bell that many can wait for. */
export class Wake {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at the next `ring()`, after `ms` milliseconds, or when the signal is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const cancel = this.#clock.after(ms, done);
      this.#waiting.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  /** Lets everyone go who waits now. */
  ring(): void {
    for (const done of [...this.#waiting]) done();
  }
}
