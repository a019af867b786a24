/**
 * A token bucket for what may be left out: edits of streamed answers and typing notices. Zulip counts every call of the bot against one
 * limit, and final answers must never wait for decoration.
 */
import type { Clock } from "../../lib/clock.ts";

/** Holds at most a tenth of a minute's worth. */
export class EditBudget {
  #tokens: number;
  #at: number;

  constructor(readonly clock: Clock, readonly perMinute: number) {
    this.#tokens = this.#capacity;
    this.#at = clock.monotonic();
  }

  get #capacity(): number {
    return Math.max(1, this.perMinute / 10);
  }

  /** Takes one, or says that there is none now. */
  take(): boolean {
    const now = this.clock.monotonic();
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#at) * this.perMinute / 60_000);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
