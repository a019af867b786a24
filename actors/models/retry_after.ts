/**
 * Reads how long a provider asks us to wait, from headers or from a sentence.
 *
 * Pure. Knows `retry-after` (seconds or date), `retry-after-ms`, `x-ratelimit-reset-*` of the limit that is used up,
 * and "try again in 1.3s". It does not cap: the caller judges a wait of hours.
 * Proved by the table in `classify_error_test.ts`.
 */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface RetryHint {
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Returns the wait in whole milliseconds, or nothing when the provider named none. */
export function readRetryAfterMs({ headers = {}, text }: RetryHint, now: number): number | undefined {
  const waitMs = fromMilliseconds(headers["retry-after-ms"]) ??
    fromSecondsOrDate(headers["retry-after"], now) ??
    fromUsedUpLimit(headers, now) ??
    fromSentence(text);
  return waitMs === undefined ? undefined : Math.max(0, Math.ceil(waitMs));
}

function fromMilliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function fromSecondsOrDate(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at - now;
}

/** The longest reset among the limits whose `remaining` is 0 (OpenAI: a duration; Anthropic: a date). */
function fromUsedUpLimit(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const waits: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const openai = /^x-ratelimit-reset-(.+)$/.exec(name);
    const anthropic = /^anthropic-ratelimit-(.+)-reset$/.exec(name);
    const remaining = openai !== null
      ? headers[`x-ratelimit-remaining-${openai[1]}`]
      : anthropic !== null
      ? headers[`anthropic-ratelimit-${anthropic[1]}-remaining`]
      : undefined;
    if (remaining === undefined || Number(remaining) !== 0) continue;
    const wait = openai !== null ? duration(value) : fromSecondsOrDate(value, now);
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function fromSentence(text: string): number | undefined {
  const found =
    /(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?)\b\s*)+)/i
      .exec(text);
  return found?.[1] === undefined ? undefined : duration(found[1]);
}

/** Reads "28ms", "1.3s", "6m0s", "2 hours". */
function duration(text: string): number | undefined {
  let totalMs: number | undefined;
  for (const [, amount, unit = ""] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const unitMs = unit.startsWith("mil") ? 1 : UNIT_MS[unit] ?? UNIT_MS[unit.slice(0, 1)];
    if (unitMs === undefined) return undefined;
    totalMs = (totalMs ?? 0) + Number(amount) * unitMs;
  }
  return totalMs;
}
