/**
 * Counts values into buckets, for Prometheus: how many were at most each bound, their number and their sum. Proven by `lib/metrics_test.ts`.
 */
import type { Sample } from "./metrics.ts";

/** A histogram in memory. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds`: upper ends of the buckets, rising; one more for everything above comes by itself. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** The samples of a family of type `histogram`. */
  samples(): Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { le: String(bound) }, value: below } as const;
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { le: "+Inf" }, value: this.#count },
      { suffix: "_sum", value: this.#sum },
      { suffix: "_count", value: this.#count },
    ];
  }
}
