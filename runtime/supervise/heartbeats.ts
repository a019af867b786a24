/**
 * Judges who hangs, fairly: whoever looks late gives everybody that much more time, and nobody is judged at the first look, so that beats
 * which wait in a pipe are read before the second. It knows neither processes nor Workers. Proven by `policy_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";

/** Something that must beat. */
export interface Watched {
  /** Monotonic time of the last beat, as extended by the judge's own lateness. */
  lastBeat: number;
  /** Longest silence, in milliseconds. */
  limitMs(): number;
  /** The process it lives in: while that is silent, nothing is known of what is inside. */
  readonly inside?: Watched | undefined;
  hung(silentMs: number): void;
}

/** Looks at everything watched, every `tickMs`. */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #onTick: () => void;
  readonly #watched = new Set<Watched>();
  #stale = new Set<Watched>();
  #cancel: (() => void) | undefined;
  #expected = 0;

  /** `onTick` runs after each look. */
  constructor(clock: Clock, tickMs: number, onTick: () => void) {
    this.#clock = clock;
    this.#tickMs = tickMs;
    this.#onTick = onTick;
  }

  start(): void {
    this.#expected = this.#clock.monotonic() + this.#tickMs;
    this.#cancel = this.#clock.after(this.#tickMs, () => this.#look());
  }

  stop(): void {
    this.#cancel?.();
    this.#watched.clear();
    this.#stale.clear();
  }

  add(watched: Watched): void {
    watched.lastBeat = this.#clock.monotonic();
    this.#watched.add(watched);
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
    this.#stale.delete(watched);
  }

  #look(): void {
    const now = this.#clock.monotonic();
    const late = Math.max(0, now - this.#expected);
    const seen = this.#stale;
    this.#stale = new Set();
    for (const watched of this.#watched) {
      watched.lastBeat = Math.min(now, watched.lastBeat + late);
      if (isStale(watched, now)) this.#stale.add(watched);
    }
    this.start();
    for (const watched of [...this.#stale]) {
      if (!seen.has(watched) || !this.#watched.has(watched)) continue;
      if (watched.inside && now - watched.inside.lastBeat > watched.inside.limitMs() / 2) continue;
      watched.hung(Math.round(now - watched.lastBeat));
    }
    this.#onTick();
  }
}

function isStale(watched: Watched, now: number): boolean {
  return now - watched.lastBeat > watched.limitMs();
}
