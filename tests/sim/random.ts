/**
 * The one source of chance in the simulation: the same seed gives the same run, to the last step. A small generator (mulberry32) with the few
 * questions that the simulation asks. It is no source of secrets.
 */

/** Seeded chance. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.between(0, list.length - 1)] ?? list[0];
  }

  /** One of a list, or nothing of an empty one. */
  pickAny<T>(list: readonly T[]): T | undefined {
    return list[this.between(0, list.length - 1)];
  }

  /** A name, chosen by its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights) as [Name, number][]; // the record's own names
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name;
    const [last] = entries.at(-1) ?? [];
    if (last === undefined) throw new RangeError("nothing to choose from");
    return last;
  }
}
