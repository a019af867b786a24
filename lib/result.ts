/**
 * Expected failures are values. This file owns their one shape and the list of codes that cross a boundary
 * (HTTP answers, `request.failed` messages, command-line errors). It knows nothing of HTTP or SQL.
 */

/** Every code that an expected failure may carry, in one list. */
export type ErrorCode =
  | "bad_request"
  | "conflict"
  | "corrupt"
  | "fenced"
  | "forbidden"
  | "guard_failed"
  | "mailbox_full"
  | "not_allowed"
  | "not_found"
  | "poison"
  | "schema_mismatch"
  | "supervisor_away"
  | "timeout"
  | "unauthorized"
  | "unavailable"
  | "unknown_outcome"
  | "unknown_type";

/** An expected failure. `message` is safe to show: it never holds a secret or a message body. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** True when the same call may succeed later without being changed. */
  readonly retry: boolean;
}

/** Success with a value, or an expected failure. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: Failure };

/** Wraps a value as a success. */
export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** Builds a failure; `retry` defaults to false. */
export function fail(code: ErrorCode, message: string, retry = false): Result<never> {
  return { ok: false, error: { code, message, retry } };
}
