/**
 * When a schedule runs: its first time, and after each run the next one, counted from the planned time so that nothing drifts. Runs that were
 * missed while nobody was there become one. Proven by `scheduler_test.ts`.
 */
import type { ScheduleSpec } from "../protocol/scheduler.ts";
import { cronProblem, nextCron } from "./cron.ts";

/** The shortest distance between two runs, in milliseconds. */
export const MIN_INTERVAL_MS = 60_000;

/** How many runs of a cron expression are looked at to see that it is not too fast. */
const LOOK_AHEAD = 60;

/** When and in which time zone. */
export interface Timing {
  readonly spec: ScheduleSpec;
  readonly timeZone: string;
}

/** Why a timing is refused, in words for whoever asked, or undefined. */
export function timingProblem(timing: Timing, now: number): string | undefined {
  const { spec, timeZone } = timing;
  switch (spec.kind) {
    case "once":
      return spec.at > now ? undefined : `${new Date(spec.at).toISOString()} lies in the past`;
    case "every":
      return spec.everyMs >= MIN_INTERVAL_MS ? undefined : "a schedule runs at most once a minute";
    case "cron": {
      const problem = cronProblem({ expression: spec.expression, timeZone });
      if (problem) return problem;
      return isTooFast(timing, now) ? "a schedule runs at most once a minute" : undefined;
    }
    default:
      return spec satisfies never;
  }
}

/** The first run after `after`, or undefined when there is none. */
export function nextRun({ spec, timeZone }: Timing, after: number): number | undefined {
  switch (spec.kind) {
    case "once":
      return spec.at > after ? spec.at : undefined;
    case "every": {
      const start = spec.startAt ?? after + spec.everyMs;
      if (start > after) return start;
      return start + (Math.floor((after - start) / spec.everyMs) + 1) * spec.everyMs;
    }
    case "cron":
      return nextCron({ expression: spec.expression, timeZone }, after);
    default:
      return spec satisfies never;
  }
}

/** A run that is due: how many more were missed since, and when the next one is. */
export interface Due {
  readonly missed: number;
  readonly nextAt: number | undefined;
}

/** How many missed runs are counted at most; more are reported as this many. */
const MAX_MISSED = 1_000;

/** What becomes of a run planned for `plannedAt` that is handled at `now`. */
export function whenDue(timing: Timing, plannedAt: number, now: number): Due {
  const anchored = anchor(timing, plannedAt);
  let missed = 0;
  let next = nextRun(anchored, plannedAt);
  while (next !== undefined && next <= now) {
    missed++;
    if (missed >= MAX_MISSED) return { missed, nextAt: nextRun(anchored, now) };
    next = nextRun(anchored, next);
  }
  return { missed, nextAt: next };
}

/** `every` without a start counts from its planned run. */
function anchor(timing: Timing, plannedAt: number): Timing {
  const { spec } = timing;
  return spec.kind === "every" ? { ...timing, spec: { ...spec, startAt: plannedAt } } : timing;
}

function isTooFast(timing: Timing, now: number): boolean {
  let last = nextRun(timing, now);
  for (let index = 0; index < LOOK_AHEAD && last !== undefined; index++) {
    const next = nextRun(timing, last);
    if (next !== undefined && next - last < MIN_INTERVAL_MS) return true;
    last = next;
  }
  return false;
}
