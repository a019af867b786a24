/** Latencies in milliseconds, and the two numbers that one says of them. Pure. Proven by `bench_test.ts`. */

/** A collection of measured times. */
export class Samples {
  readonly #values: number[] = [];

  add(ms: number): void {
    this.#values.push(ms);
  }

  get count(): number {
    return this.#values.length;
  }

  /** The smallest value that at least `share` (0 to 1) of all values do not exceed; NaN when there is none. */
  percentile(share: number): number {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  }

  get p50(): number {
    return this.percentile(0.5);
  }

  get p99(): number {
    return this.percentile(0.99);
  }

  get max(): number {
    return this.percentile(1);
  }
}

/** The middle value; NaN of an empty list. */
export function median(values: readonly number[]): number {
  const samples = new Samples();
  for (const value of values) samples.add(value);
  return samples.p50;
}
