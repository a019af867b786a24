/**
 * Spans and moments for people, in the device's own language and zone. Pure. Proven by `render_test.tsx`.
 */
import { strings } from "../strings.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span in its largest fitting unit: `42 s`, `5 min`, `3 h`, `2 d`. */
export function spanOf(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < 2 * DAY) return `${Math.floor(span / HOUR)} h`;
  return `${Math.floor(span / DAY)} d`;
}

/** How long ago something was. */
export function ageOf(at: number, now: number): string {
  return now - at < 10 * SECOND ? strings.time.now : strings.time.ago(spanOf(now - at));
}

/** Time left until `at`: seconds count in the last two minutes. */
export function leftOf(at: number, now: number): string {
  const left = Math.max(0, at - now);
  if (left >= 2 * MINUTE) return spanOf(left);
  const seconds = Math.ceil(left / SECOND);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
}

/** How long something took. */
export function durationOf(ms: number): string {
  return ms < SECOND ? `${Math.round(ms)} ms` : ms < MINUTE ? `${(ms / SECOND).toFixed(1)} s` : spanOf(ms);
}

/** Date and time of day. */
export function momentOf(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(at);
}

/** Time of day. */
export function clockOf(at: number): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(at);
}

/** A count that stays short: `1.2K`. */
export function compactOf(count: number): string {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}
