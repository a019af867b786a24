/**
 * Makes a provider's error text fit to be stored, logged and shown.
 *
 * Promises: no configured secret and nothing that looks like a credential survives; markup is stripped; at most
 * 1,000 characters. It does not judge the error. Proved by `classify_error_test.ts`.
 */

const MAX_CHARS = 1_000;
/** Below this length a "secret" would blank out ordinary words. */
const MIN_SECRET_CHARS = 6;

const CREDENTIAL_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|hf|sess)[-_][A-Za-z0-9_*-]{8,}/g,
  /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\b(x-api-key|api[-_ ]?key|authorization|access[-_]token)(["']?\s*[:=]\s*["']?)[^\s"',;}]{6,}/gi,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /(\bhttps?:\/\/)[^\s/@]+@/gi,
];

/** Returns `text` without secrets and markup, on one line, cut to 1,000 characters. */
export function safeMessage(text: string, secrets: readonly string[] = []): string {
  let safe = text.slice(0, MAX_CHARS * 20);
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_CHARS) safe = safe.replaceAll(secret, "[redacted]");
  }
  for (const shape of CREDENTIAL_SHAPES) safe = safe.replace(shape, "[redacted]");
  safe = safe
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<\/?[a-z!][^>]*>/gi, " ")
    .replace(/\s+/g, " ")
    .trim();
  return safe.length <= MAX_CHARS ? safe : `${safe.slice(0, MAX_CHARS - 1)}…`;
}
