/**
 * What can go wrong when talking to a Zulip server, as one closed list.
 *
 * Owns the failure kinds and how an HTTP answer maps to them. Promises: branches on status and `code`, never on the server's text (it is translated);
 * neither message nor fields ever hold the API key, a request body or a URL's query. Does not know what a caller does about a failure.
 * Proved by `client_test.ts`.
 */
import * as z from "zod";

/** Why a call failed. `retryAfterMs` is a duration from now, in milliseconds. */
export type ZulipFailure =
  /** 429, or refused locally because an earlier 429 has not run out. Nothing happened on the server. */
  | { readonly kind: "rate_limited"; readonly retryAfterMs: number }
  /** The event queue is gone or not ours: register a new one. */
  | { readonly kind: "bad_event_queue" }
  /** 401: fatal for this account, whatever the reason. */
  | { readonly kind: "unauthorized" }
  /** Any other 4xx: the server understood and refused. */
  | { readonly kind: "bad_request"; readonly status: number; readonly code: string; readonly msg: string }
  /** 5xx. A write may have happened. */
  | { readonly kind: "server"; readonly status: number }
  /** The connection failed or broke. A write may have happened. */
  | { readonly kind: "network" }
  /** No complete answer in time. A write may have happened. */
  | { readonly kind: "timeout"; readonly afterMs: number }
  /** An answer that is not what the API promises (a redirect, HTML, a missing field, too long). A write may have happened. */
  | { readonly kind: "bad_response"; readonly reason: string };

/** A failed call. Aborting a call through its own signal rejects with the signal's reason instead. */
export class ZulipError extends Error {
  override readonly name = "ZulipError";
  readonly failure: ZulipFailure;
  /** Method and path template, for logs: `POST /messages`. */
  readonly operation: string;

  constructor(operation: string, failure: ZulipFailure, cause?: unknown) {
    super(`${operation}: ${describe(failure)}`, cause === undefined ? undefined : { cause });
    this.operation = operation;
    this.failure = failure;
  }

  /** Whether the server may have carried out the call although we have no answer. A caller must look before it sends again. */
  get outcomeUnknown(): boolean {
    return ["server", "network", "timeout", "bad_response"].includes(this.failure.kind);
  }
}

function describe(failure: ZulipFailure): string {
  switch (failure.kind) {
    case "rate_limited":
      return `rate limited, try again in ${failure.retryAfterMs} ms`;
    case "bad_event_queue":
      return "the event queue no longer exists";
    case "unauthorized":
      return "not authorized; check ZULIP_SITE, ZULIP_EMAIL and ZULIP_API_KEY and that the bot is active";
    case "bad_request":
      return `refused with ${failure.status} ${failure.code}: ${failure.msg}`;
    case "server":
      return `the server failed with ${failure.status}`;
    case "network":
      return "the connection failed";
    case "timeout":
      return `no answer within ${failure.afterMs} ms`;
    case "bad_response":
      return `unusable answer: ${failure.reason}`;
  }
}

const ErrorBody = z.object({
  code: z.string().catch("UNKNOWN"),
  msg: z.string().catch(""),
  "retry-after": z.number().optional().catch(undefined),
});

/** A wait for a 429 that names none. */
const DEFAULT_RETRY_AFTER_MS = 5_000;

/**
 * The failure that an HTTP answer with a status outside 200–299 stands for.
 *
 * @param body the decoded JSON, or `undefined` when it was none (nginx answers HTML during upgrades).
 */
export function failureOf(status: number, headers: Headers, body: unknown): ZulipFailure {
  const parsed = ErrorBody.safeParse(body);
  const error = parsed.success ? parsed.data : { code: "UNKNOWN", msg: "", "retry-after": undefined };
  if (status === 429) {
    return { kind: "rate_limited", retryAfterMs: retryAfterMs(headers, error["retry-after"]) };
  }
  if (status === 401) return { kind: "unauthorized" };
  if (status >= 500) return { kind: "server", status };
  if (status >= 300 && status < 400) {
    return {
      kind: "bad_response",
      reason: `redirect ${status}; ZULIP_SITE must be the server's own address`,
    };
  }
  if (error.code === "BAD_EVENT_QUEUE_ID") return { kind: "bad_event_queue" };
  return { kind: "bad_request", status, code: error.code, msg: error.msg };
}

/** Header and body may both name a wait; the longer one is safe. */
function retryAfterMs(headers: Headers, bodySeconds: number | undefined): number {
  const named = [Number(headers.get("retry-after") ?? NaN), bodySeconds ?? NaN]
    .filter((seconds) => Number.isFinite(seconds) && seconds >= 0);
  return named.length === 0 ? DEFAULT_RETRY_AFTER_MS : Math.ceil(Math.max(...named) * 1_000);
}
