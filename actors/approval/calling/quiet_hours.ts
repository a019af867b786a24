/**
 * When people are left in peace: from hour to hour in the owner's time zone. Reminders and escalations wait for the end; what ends an item never
 * does. A time that a clock change leaves out is the first one after it. Pure. Proven by `quiet_hours_test.ts`.
 */
import type { GateSettings } from "../../protocol/approval.ts";

/** The end of the quiet hours that hold at this moment, or the moment itself. Milliseconds since the epoch. */
export function afterQuietHours(
  { quietHours, timeZone }: Pick<GateSettings, "quietHours" | "timeZone">,
  now: number,
): number {
  if (!quietHours || quietHours.from === quietHours.to) return now;
  const { from, to } = quietHours;
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
  const { hour } = local;
  const quiet = from < to ? hour >= from && hour < to : hour >= from || hour < to;
  if (!quiet) return now;
  const day = local.toPlainDate();
  const ends = [day, day.add({ days: 1 })].map((each) =>
    each.toZonedDateTime({ timeZone, plainTime: { hour: to } }).epochMilliseconds
  );
  return ends.find((end) => end > now) ?? now;
}

/** What keeps a name from being a time zone, or undefined. */
export function timeZoneProblem(timeZone: string): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return undefined;
  } catch {
    return `"${timeZone}" is no time zone; use a name such as Europe/Berlin`;
  }
}
