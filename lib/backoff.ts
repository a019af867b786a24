/**
 * Exponential backoff with full jitter: how long to wait before trying again.
 *
 * Owns the arithmetic only. It does not wait, count attempts or know what failed; the caller passes the attempt and the source of randomness, so a test
 * can fix both. Promise: 0 ≤ delay ≤ cap, and the upper bound doubles with each attempt. Proved by `backoff_test.ts`.
 */

export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds. */
  readonly baseMs: number;
  /** No delay is longer than this, in milliseconds. */
  readonly capMs: number;
  /** A number in [0, 1), such as `Math.random`. */
  readonly random: () => number;
}

/**
 * The delay before retry number `attempt` (0 is the first), in whole milliseconds: uniform in [0, min(cap, base · 2^attempt)].
 *
 * @throws {RangeError} when 'attempt' is negative or not an integer.
 */
export function backoffMs(attempt: number, options: BackoffOptions): number {
  if (!Number.isInteger(attempt) || attempt < 0) {
    throw new RangeError(`'attempt' must be an integer of at least 0, received ${attempt}`);
  }
  const bound = Math.min(options.capMs, options.baseMs * 2 ** Math.min(attempt, 52));
  return Math.round(options.random() * bound);
}
