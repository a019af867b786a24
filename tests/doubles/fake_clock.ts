/**
 * A clock that moves only when a test says so. Timers fire in order of their due time, then of their creation.
 */
import type { Clock } from "../../lib/clock.ts";

/** A hand-driven clock; wall and monotonic time move together. */
export class FakeClock implements Clock {
  #now: number;
  #next = 1;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  /** `start`: the first reading, milliseconds since the epoch. */
  constructor(start = 1_700_000_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), run });
    return () => void this.#timers.delete(id);
  }

  /** How many timers wait; a test asserts 0 at its end to prove that nothing was left behind. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The due time of the earliest timer, or undefined when none waits. */
  get nextAt(): number | undefined {
    const times = [...this.#timers.values()].map((timer) => timer.at);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Moves time forward by `ms`, firing what falls due and letting promises settle between timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end)
        .sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].run();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets every promise callback that is ready run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
