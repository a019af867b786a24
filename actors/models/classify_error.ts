/**
 * Decides what kind of failure a provider's error is, and how long the provider asked us to wait.
 *
 * Pure. What it sees is untrusted text in many dialects, so text is believed before the status: providers send
 * "overloaded" as an `invalid_request_error`, or a context overflow as a 413 without a body. It does not decide
 * whether to retry. Proved by the table in `classify_error_test.ts`.
 */

import type { ModelError, ModelErrorClass } from "../protocol/model.ts";
import { readRetryAfterMs } from "./retry_after.ts";
import { safeMessage } from "./safe_message.ts";

/** A provider that wants us to wait longer than this has, for one turn, said no. Milliseconds. */
export const MAX_RETRY_DELAY_MS = 60_000;

export interface ProviderError {
  /** HTTP status of a refused request. Left out when no answer came or the failure came after a 200. */
  readonly status?: number;
  /** Response headers with lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the answer, or what was thrown. */
  readonly text: string;
}

export interface ClassifyOptions {
  /** Wall clock, milliseconds since the epoch, for `retry-after` dates. */
  readonly now: number;
  /** Values that must not appear in the message. */
  readonly secrets?: readonly string[];
}

/** Kinds told by words, the most telling first. */
const BY_TEXT: readonly (readonly [ModelErrorClass, RegExp])[] = [
  [
    "usage_limit",
    /usage_limit_reached|insufficient_quota|usage_not_included|exceeded your current quota|credit balance is too low|billing (?:hard )?limit|usage_limit_exceeded|quota (?:has been )?exhausted/i,
  ],
  ["rate_limit", /rate_limit_exceeded|rate_limit_error|rate limit (?:reached|exceeded)|too many requests/i],
  [
    "transient",
    /overloaded|server_is_overloaded|\bapi_error\b|server_error|temporarily unavailable|try again later/i,
  ],
  [
    "context_too_long",
    /context_length_exceeded|prompt is too long|exceeds the context window|maximum context length|input token count.*exceeds|maximum prompt length is|reduce the length of the messages|exceeds the limit of|exceeds the available context size|available context size|greater than the context length|context window exceeds limit|exceeded model token limit|too large for model with|input length and `?max_tokens`? exceed|model_context_window_exceeded|request_too_large|context_window_exceeded/i,
  ],
  ["refusal", /content_filter|content_policy_violation|content management policy|flagged by|safety system/i],
  [
    "auth",
    /authentication_error|invalid_api_key|incorrect api key|invalid x-api-key|permission_error|no api key|unauthorized\b/i,
  ],
];

const TRANSIENT_STATUS = new Set([408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 529]);

/** Classifies an error; the message is safe to show. */
export function classifyError(error: ProviderError, options: ClassifyOptions): ModelError {
  const kind = byText(error) ?? byStatus(error);
  const mayWait = kind === "transient" || kind === "rate_limit" || kind === "usage_limit";
  const retryAfterMs = mayWait ? readRetryAfterMs(error, options.now) : undefined;
  const tooLong = retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_DELAY_MS;
  return {
    class: tooLong ? "usage_limit" : kind,
    message: describe(error, options.secrets ?? []),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function byText(error: ProviderError): ModelErrorClass | undefined {
  if (error.text.length === 0) return undefined;
  const text = error.text.slice(0, 20_000);
  return BY_TEXT.find(([, pattern]) => pattern.test(text))?.[0];
}

function byStatus({ status, text }: ProviderError): ModelErrorClass {
  if (status === undefined || status < 400) return "transient";
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "usage_limit";
  if (status === 429) return "rate_limit";
  // Some servers answer an overflow with nothing but the status.
  if (status === 413 || (status === 400 && text.trim() === "")) return "context_too_long";
  if (TRANSIENT_STATUS.has(status) || status > 504) return "transient";
  return "bad_request";
}

function describe({ status, text }: ProviderError, secrets: readonly string[]): string {
  const said = safeMessage(innerMessage(text), secrets);
  if (status === undefined || status < 400) return said || "The connection to the model broke.";
  return said === ""
    ? `The model's provider answered ${status}.`
    : `The model's provider answered ${status}: ${said}`;
}

/** Finds the sentence for people inside `{"error":{"message":"{\"error\":{\"message\":…"`, at most 3 levels deep. */
function innerMessage(text: string, depth = 0): string {
  const start = text.indexOf("{");
  if (start < 0 || depth > 3) return text;
  let body: unknown;
  try {
    body = JSON.parse(text.slice(start));
  } catch {
    return text;
  }
  const found = field(field(body, "error"), "message") ?? field(body, "message") ?? field(body, "error");
  return typeof found === "string" && found !== "" ? innerMessage(found, depth + 1) : text;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
