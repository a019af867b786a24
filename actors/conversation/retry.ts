/**
 * Whether and when a failed model step is asked for again. Pure arithmetic; the jitter comes from a hash of the attempt's name, so that a
 * redelivered message decides the same. Proven by `step_test.ts`.
 */
import type { ModelError } from "../protocol/model.ts";

/** Failed attempts of one step that are tried again. */
export const MAX_RETRIES = 5;

/** A provider that asks for a longer pause than this, in milliseconds, has run out of quota. */
const MAX_WAIT_MS = 60_000;

/**
 * Milliseconds to wait before retry number `retry` (1 is the first), or undefined when it must not be tried again. A delay that the provider
 * named is kept exactly.
 */
export function retryDelayMs(error: ModelError, retry: number, seed: string): number | undefined {
  if (retry > MAX_RETRIES) return undefined;
  switch (error.class) {
    case "transient":
    case "rate_limit":
    case "aborted": {
      if (error.retryAfterMs !== undefined) {
        return error.retryAfterMs <= MAX_WAIT_MS ? Math.ceil(error.retryAfterMs) : undefined;
      }
      const slow = error.class === "rate_limit";
      const delay = (slow ? 2000 : 200) * 2 ** (retry - 1);
      return Math.round(Math.min(delay, slow ? 30_000 : Infinity) * (0.9 + 0.2 * fraction(seed)));
    }
    case "context_too_long":
    case "usage_limit":
    case "bad_request":
    case "auth":
    case "refusal":
    case "fatal":
      return undefined;
    default:
      return error.class satisfies never;
  }
}

/** A number in [0, 1) that a text always gives (FNV-1a, 32 bits). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}
