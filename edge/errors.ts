/**
 * Failures on their way out: whatever goes wrong in a route becomes one JSON shape, here and nowhere else. An unexpected error is logged by
 * name and answered without detail. Proven by `edge/app_test.ts`.
 */
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ErrorCode, Failure } from "../lib/result.ts";
import { DbError } from "../store/db.ts";
import type { ErrorBody } from "./api.ts";

/** Codes of answers: those of the product and those that only HTTP knows. */
export type ApiCode =
  | ErrorCode
  | "internal"
  | "method_not_allowed"
  | "rate_limited"
  | "reauthenticate"
  | "too_large"
  | "unsupported_media_type";

const STATUS: Readonly<Record<ApiCode, ContentfulStatusCode>> = {
  bad_request: 400,
  conflict: 409,
  corrupt: 500,
  fenced: 503,
  forbidden: 403,
  guard_failed: 409,
  internal: 500,
  mailbox_full: 429,
  method_not_allowed: 405,
  not_allowed: 403,
  not_found: 404,
  poison: 500,
  rate_limited: 429,
  reauthenticate: 403,
  schema_mismatch: 503,
  supervisor_away: 503,
  timeout: 504,
  too_large: 413,
  unauthorized: 401,
  unavailable: 503,
  unknown_outcome: 503,
  unknown_type: 400,
  unsupported_media_type: 415,
};

/** A refusal with its code and a sentence for people, which must hold no secret. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(readonly code: ApiCode, message: string) {
    super(message);
  }
}

/** A commit that the database refused though nothing the caller sent can be the reason. Its message names statements, never values. */
export class CommitRefused extends Error {
  override readonly name = "CommitRefused";
}

/** Throws a failed commit: what may pass later as 503, everything else as a fault of ours. */
export function refuseCommit(failure: Failure): never {
  if (failure.retry || failure.code === "unavailable" || failure.code === "unknown_outcome") {
    throw new ApiError("unavailable", "The database could not be written right now; try again");
  }
  throw new CommitRefused(`${failure.code}: ${failure.message}`);
}

/** Throws the failure of a result as an answer. */
export function refuse(failure: Failure): never {
  throw new ApiError(failure.code, failure.message);
}

/** A code that came from elsewhere as one of ours; `conflict` when it is unknown. */
export function toApiCode(code: string): ApiCode {
  return Object.hasOwn(STATUS, code) ? code as ApiCode : "conflict"; // hasOwn has just shown it
}

/** The status that belongs to a code. */
export function statusOf(code: ApiCode): ContentfulStatusCode {
  return STATUS[code];
}

/** The answer to anything thrown. `report` is told only of what nobody expected. */
export function errorAnswer(c: Context, error: unknown, report: (error: unknown) => void): Response {
  const known = toApiError(error);
  if (known.code === "internal") report(error);
  const body: ErrorBody = { error: { code: known.code, message: known.message } };
  c.header("Cache-Control", "no-store");
  return c.json(body, statusOf(known.code));
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DbError && error.kind !== "other" && error.kind !== "constraint") {
    return new ApiError("unavailable", "The database cannot be reached right now; try again");
  }
  if (error instanceof HTTPException && error.status === 413) {
    return new ApiError("too_large", "The body is too large");
  }
  return new ApiError("internal", "Something went wrong here; the log says what");
}
