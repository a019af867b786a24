/**
 * One thing at a time per key, different keys side by side. Used so that a streamed answer's edits and its final text never overlap.
 */

/** A set of serial queues, made and dropped as they are needed. */
export class Lanes {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` after everything that was given for this key before, whether that succeeded or not. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const tail = result.catch(() => undefined).finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Whether anything of this key runs or waits. */
  busy(key: string): boolean {
    return this.#tails.has(key);
  }
}
