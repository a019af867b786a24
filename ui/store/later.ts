/**
 * Until when an item may be put off. Pure; days begin and end where the person is. Proven by `store_test.ts`.
 */

const MINUTE = 60_000;
/** When a morning begins, in hours. */
const MORNING = 8;
/** The server's own limit. */
export const MAX_LATER_MS = 30 * 86_400_000;

/** The times that are one tap away. */
export type LaterChoice = "quarter" | "hour" | "morning";

/** The time of a choice, in milliseconds since the epoch. *Tomorrow morning* is the next day's, also shortly after midnight. */
export function laterTime(choice: LaterChoice, now: number): number {
  switch (choice) {
    case "quarter":
      return now + 15 * MINUTE;
    case "hour":
      return now + 60 * MINUTE;
    case "morning": {
      const day = new Date(now);
      return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, MORNING).getTime();
    }
    default:
      return choice satisfies never;
  }
}

/** A moment as the browser's field for date and time writes it, in local time. */
export function localMinute(at: number): string {
  const day = new Date(at);
  const two = (value: number) => `${value}`.padStart(2, "0");
  const date = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
  return `${date}T${two(day.getHours())}:${two(day.getMinutes())}`;
}

/** What such a field says; undefined for nothing, for the past, and for what is too far away. */
export function momentIn(field: string, now: number): number | undefined {
  const at = new Date(field).getTime();
  return Number.isFinite(at) && at > now && at <= now + MAX_LATER_MS ? at : undefined;
}
