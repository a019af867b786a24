/**
 * What the event loop does next after a call failed: the decision alone, without I/O.
 *
 * Promises: a lost queue is re-registered at once, a refused cursor too; a rate limit is waited out in full; everything else backs off with full jitter,
 * and after `SILENCE_MS` without a successful poll the queue is given up. Only a 401 stops the loop. Proved by `event_loop_test.ts`.
 */
import { backoffMs } from "../lib/backoff.ts";
import type { ZulipFailure } from "./errors.ts";

/** Without a successful poll for this long, the queue is taken for dead. */
export const SILENCE_MS = 180_000;
/** Added to the server's long-poll time for the client's own limit. */
export const POLL_GRACE_MS = 20_000;

export type Step =
  | { readonly do: "poll"; readonly waitMs: number }
  | { readonly do: "register"; readonly waitMs: number; readonly why: RegisterReason }
  | { readonly do: "stop"; readonly reason: "unauthorized" };

/** Why a queue is registered. After `first` with no saved mark there is no gap to recover. */
export type RegisterReason = "first" | "queue_lost" | "cursor_refused" | "silent";

export interface FailureContext {
  readonly phase: "poll" | "register";
  /** Failures in a row before this one. */
  readonly failures: number;
  /** Since the last successful poll or registration, in milliseconds. */
  readonly silentMs: number;
  readonly random: () => number;
  /** Why a registration was being made, when one was. */
  readonly why: RegisterReason;
}

export function afterFailure(failure: ZulipFailure, context: FailureContext): Step {
  if (failure.kind === "unauthorized") return { do: "stop", reason: "unauthorized" };
  if (failure.kind === "rate_limited") return again(context, failure.retryAfterMs);
  const waitMs = backoffMs(context.failures, { baseMs: 500, capMs: 30_000, random: context.random });
  if (context.phase === "register") return again(context, waitMs);
  if (failure.kind === "bad_event_queue") return { do: "register", waitMs: 0, why: "queue_lost" };
  // A 4xx to a poll means that the cursor is not of this queue ("already pruned", "not in this queue"); it has no code of its own. A second one in a
  // row waits, so that a server that refuses everything is not hammered.
  if (failure.kind === "bad_request") {
    return { do: "register", waitMs: context.failures === 0 ? 0 : waitMs, why: "cursor_refused" };
  }
  if (context.silentMs >= SILENCE_MS) return { do: "register", waitMs, why: "silent" };
  if (failure.kind === "timeout") return { do: "poll", waitMs: 0 };
  return { do: "poll", waitMs };
}

function again(context: FailureContext, waitMs: number): Step {
  return context.phase === "register" ? { do: "register", waitMs, why: context.why } : { do: "poll", waitMs };
}
