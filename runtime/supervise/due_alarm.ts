/**
 * Calls again when the first message of a mailbox that is not due yet becomes due. Owns one timer; knows no mailbox. Proven by
 * `runtime_test.ts` (`notBefore`) and the simulation.
 */
import type { Clock } from "../../lib/clock.ts";

/** Longer waits than a timer can hold are looked at again in between. */
const LONGEST_TIMER_MS = 3_600_000;

/** One alarm, set anew as often as it is asked to. */
export class DueAlarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #cancel: (() => void) | undefined;
  #armedFor: number | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `due`, milliseconds since the epoch; undefined: not at all. What was set before no longer counts. */
  set(due: number | undefined): void {
    if (due === this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = due;
    if (due === undefined) return;
    const ms = Math.min(Math.max(0, due - this.#clock.now()), LONGEST_TIMER_MS);
    this.#cancel = this.#clock.after(ms, () => {
      this.#armedFor = undefined;
      this.#ring();
    });
  }

  /** Rings no more until it is set for another time. */
  cancel(): void {
    this.#cancel?.();
  }
}
