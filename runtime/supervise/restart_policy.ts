/**
 * When a crashed actor is started again: at once after a death that was not its fault, with capped full-jitter backoff after its own, and not
 * at all when it crashed too often (unless there is only one of it). Pure. Proven by `policy_test.ts`.
 */
import { backoffMs } from "../../lib/backoff.ts";
import type { RestartLimits } from "../limits.ts";

/** Times of an actor's own crashes within the window, on the monotonic clock. */
export type CrashHistory = readonly number[];

/** What to do after a crash. */
export type RestartDecision =
  | { readonly action: "restart"; readonly delayMs: number; readonly history: CrashHistory }
  | { readonly action: "park"; readonly history: CrashHistory };

/** What the decision needs besides the history. */
export interface RestartOptions {
  readonly now: number;
  readonly limits: RestartLimits;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** A singleton is never parked. */
  readonly singleton: boolean;
}

/** Decides after one more crash of which the actor itself is the suspect. */
export function afterCrash(history: CrashHistory, options: RestartOptions): RestartDecision {
  const { now, limits, random, singleton } = options;
  const recent = [...history.filter((at) => now - at < limits.windowMs), now];
  if (recent.length > limits.intensity && !singleton) return { action: "park", history: recent };
  const { baseMs, capMs } = limits;
  return {
    action: "restart",
    delayMs: backoffMs(recent.length - 1, { baseMs, capMs, random }),
    history: recent,
  };
}
