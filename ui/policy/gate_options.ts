/**
 * What the screen about the gate offers to choose from: how long things wait and what happens then. Pure. Proven by
 * `tests/browser/policy_test.ts`.
 */
import { spanOf } from "../render/time.ts";
import { policyStrings } from "../strings/policy.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds. */
export const waits = [15 * MINUTE, HOUR, 8 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY] as const;
export const reminders = [15 * MINUTE, HOUR, 4 * HOUR, DAY] as const;
export const undos = [10, 30, MINUTE] as const;

const endings = ["reject", "park", "escalate"] as const;
/** What happens to what nobody decided in time. */
export type Ending = (typeof endings)[number];

/** The ending of an option's value. */
export function endingOf(value: string): Ending {
  return endings.find((known) => known === value) ?? "reject";
}

/** The endings as options. */
export const endingOptions: readonly (readonly [string, string])[] = endings.map((ending) => [
  ending,
  policyStrings.gate.endings[ending],
]);

/** Spans to choose from, with the one that is set. */
export function spanOptions(
  seconds: readonly number[],
  current: number | null,
): (readonly [string, string])[] {
  const all = current === null || seconds.includes(current)
    ? seconds
    : [...seconds, current].sort((a, b) => a - b);
  return all.map((span) => [`${span}`, spanOf(span * 1000)]);
}
