/**
 * The event loop: register, long poll, hand over one event at a time, recover the gap when a queue is lost.
 *
 * Promises: at-least-once. The cursor moves past an event only after `onEvent` resolved for it, so the caller commits first and the server forgets later;
 * after a lost queue the new one is registered before history is read, so nothing falls between them. A message that came through recovery is not given
 * again as an event of the new queue. Order: recovered pages before any event of the new queue, both ascending. An event that cannot be read is reported
 * and passed over. Owns the cursor in memory only; the caller persists it (`onRegistered`, `onEvent`) and may hand it back. Does not know what an event
 * means, nor does it delete its queue: a queue that stays behind is what a restart resumes. Proved by `event_loop_test.ts`.
 */
import { backoffMs } from "../lib/backoff.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import type { Narrow, RegisterOptions, ZulipClient } from "./client.ts";
import { ZulipError, type ZulipFailure } from "./errors.ts";
import { messagesAfter } from "./history.ts";
import { afterFailure, POLL_GRACE_MS, type RegisterReason, type Step } from "./loop_policy.ts";
import { parseEvent, type ZulipEvent } from "./wire/events.ts";
import type { Message } from "./wire/messages.ts";
import type { Registration } from "./wire/register.ts";

/** Where in which queue; enough to resume. */
export interface EventCursor {
  readonly queueId: string;
  readonly lastEventId: number;
  readonly longPollTimeoutMs: number;
}

/** Something that an operator may want to know; the loop goes on. */
export type LoopProblem =
  | {
    readonly kind: "call_failed";
    readonly phase: "poll" | "register";
    readonly failure: ZulipFailure;
    readonly waitMs: number;
  }
  | {
    readonly kind: "unreadable_event";
    readonly name: string;
    readonly eventId: number | null;
    readonly reason: string;
  }
  | { readonly kind: "handler_failed"; readonly attempt: number; readonly error: unknown };

export interface EventLoopOptions {
  readonly client: Pick<ZulipClient, "register" | "getEvents" | "getMessages">;
  readonly clock: Clock;
  /** In [0, 1), for the jitter. */
  readonly random: () => number;
  /** Aborting ends the loop with `aborted`; an event that is being handled is finished first. */
  readonly signal: AbortSignal;
  readonly registration?: RegisterOptions;
  /** A persisted cursor to resume; when its queue is gone the gap is recovered. */
  readonly resume?: EventCursor;
  /** A new queue exists. Persist its id; on `first` also note `maxMessageId` as the mark when there is none. */
  readonly onRegistered: (registration: Registration, why: RegisterReason) => Promise<void>;
  /** Commit, then resolve. `cursor` is what will have been acknowledged with this event. Rejecting makes the loop try the same event again. */
  readonly onEvent: (event: ZulipEvent, cursor: EventCursor) => Promise<void>;
  readonly gap: {
    /** Newest message id accounted for, or null when there never was one (nothing to recover). */
    readonly mark: () => Promise<number | null>;
    /** What to read after the mark; see {@link messagesAfter}. */
    readonly narrows: () => Promise<readonly Narrow[]>;
    /** Commit a page and move the mark, then resolve. */
    readonly onMessages: (page: readonly Message[]) => Promise<void>;
    readonly pageSize?: number;
  };
  readonly onProblem?: (problem: LoopProblem) => void;
}

export type LoopEnd = { readonly reason: "aborted" | "unauthorized" | "realm_deactivated" };

/** A handler that fails this often in a row on one event ends the loop with its error: its supervisor starts it again at the same event. */
const MAX_HANDLER_ATTEMPTS = 5;

const EMPTY_POLL_WAIT_MS = 1_000;

interface LoopState {
  cursor: EventCursor | null;
  /** Registered, and the gap before it not yet read. */
  unrecovered: Registration | null;
  /** Ids that recovery delivered and the current queue may deliver again. */
  recovered: Set<number>;
  failures: number;
  lastSuccessAt: number;
}

/** Carries an error of the caller's own functions out of the loop, which must not take it for a failed call. */
class CallerError extends Error {}

/**
 * Runs until the signal is aborted or the account or realm is closed.
 *
 * @throws the error of `onRegistered`, of `gap`, or of `onEvent` after five attempts.
 */
export async function runEventLoop(options: EventLoopOptions): Promise<LoopEnd> {
  const { clock, signal } = options;
  const state: LoopState = {
    cursor: options.resume ?? null,
    unrecovered: null,
    recovered: new Set(),
    failures: 0,
    lastSuccessAt: clock.monotonic(),
  };
  let step: Step = state.cursor ? { do: "poll", waitMs: 0 } : { do: "register", waitMs: 0, why: "first" };
  while (!signal.aborted) {
    if (step.do === "stop") return { reason: step.reason };
    const why: RegisterReason = step.do === "register" ? step.why : "queue_lost";
    try {
      if (step.waitMs > 0) await sleep(clock, step.waitMs, signal);
      let waitMs = 0;
      if (step.do === "register") {
        await enterQueue(options, state, why);
      } else if (state.cursor) {
        const outcome = await pollOnce(options, state, state.cursor);
        if (outcome === "realm_deactivated") return { reason: outcome };
        // Only another reader of the same queue makes a poll end with nothing; do not fight it.
        if (outcome === "empty") waitMs = EMPTY_POLL_WAIT_MS;
      }
      state.failures = 0;
      state.lastSuccessAt = clock.monotonic();
      step = { do: "poll", waitMs };
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof CallerError) throw error.cause;
      if (!(error instanceof ZulipError)) throw error;
      const phase = step.do;
      step = afterFailure(error.failure, {
        phase,
        failures: state.failures++,
        silentMs: clock.monotonic() - state.lastSuccessAt,
        random: options.random,
        why,
      });
      const waitMs = step.do === "stop" ? 0 : step.waitMs;
      options.onProblem?.({ kind: "call_failed", phase, failure: error.failure, waitMs });
    }
  }
  return { reason: "aborted" };
}

/** Registers a queue, unless an earlier attempt did and only its recovery failed; then reads the gap. */
async function enterQueue(options: EventLoopOptions, state: LoopState, why: RegisterReason): Promise<void> {
  if (!state.unrecovered) {
    const registration = await options.client.register(options.registration);
    options.signal.throwIfAborted();
    state.recovered = new Set();
    await calling(() => options.onRegistered(registration, why));
    state.unrecovered = registration;
  }
  await recoverGap(options, state);
  const { queueId, lastEventId, longPollTimeoutMs } = state.unrecovered;
  state.cursor = { queueId, lastEventId, longPollTimeoutMs };
  state.unrecovered = null;
}

async function recoverGap(options: EventLoopOptions, state: LoopState): Promise<void> {
  const { gap, signal } = options;
  const mark = await calling(gap.mark);
  if (mark === null) return;
  const pages = messagesAfter(options.client, {
    mark,
    narrows: await calling(gap.narrows),
    signal,
    ...(gap.pageSize === undefined ? {} : { pageSize: gap.pageSize }),
  });
  for await (const page of pages) {
    await calling(() => gap.onMessages(page));
    for (const message of page) state.recovered.add(message.id);
    signal.throwIfAborted();
  }
}

async function pollOnce(
  options: EventLoopOptions,
  state: LoopState,
  cursor: EventCursor,
): Promise<"continue" | "empty" | "realm_deactivated"> {
  const events = await options.client.getEvents(cursor, {
    timeoutMs: cursor.longPollTimeoutMs + POLL_GRACE_MS,
    signal: options.signal,
  });
  let current = cursor;
  for (const raw of events) {
    // What is not handed over is not acknowledged: the server keeps it for the next poll.
    if (options.signal.aborted) return "continue";
    const parsed = parseEvent(raw);
    const eventId = parsed.ok ? parsed.event.id : parsed.id;
    if (eventId !== null && eventId <= current.lastEventId) continue;
    const next = eventId === null ? current : { ...current, lastEventId: eventId };
    if (!parsed.ok) {
      options.onProblem?.({ kind: "unreadable_event", name: parsed.name, eventId, reason: parsed.reason });
    } else if (!isNoise(parsed.event, state)) {
      await handle(parsed.event, next, options);
    }
    state.cursor = current = next;
    if (parsed.ok && parsed.event.type === "realm_deactivated") return "realm_deactivated";
  }
  return events.length === 0 ? "empty" : "continue";
}

function isNoise(event: ZulipEvent, state: LoopState): boolean {
  return event.type === "heartbeat" || (event.type === "message" && state.recovered.delete(event.message.id));
}

async function handle(event: ZulipEvent, cursor: EventCursor, options: EventLoopOptions): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      return await options.onEvent(event, cursor);
    } catch (error) {
      options.onProblem?.({ kind: "handler_failed", attempt, error });
      if (attempt === MAX_HANDLER_ATTEMPTS) throw new CallerError("onEvent", { cause: error });
      const waitMs = backoffMs(attempt - 1, { baseMs: 500, capMs: 30_000, random: options.random });
      await sleep(options.clock, waitMs, options.signal);
    }
  }
}

async function calling<T>(own: () => Promise<T>): Promise<T> {
  try {
    return await own();
  } catch (error) {
    throw new CallerError("caller", { cause: error });
  }
}
