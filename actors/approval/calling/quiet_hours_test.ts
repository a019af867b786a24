/** Proves when the quiet hours end, over both changes of the clock. */
import assert from "node:assert/strict";
import { afterQuietHours, timeZoneProblem } from "./quiet_hours.ts";

const night = { from: 22, to: 7 };
const cases = [
  // Quiet hours, zone, now, end; undefined: not quiet.
  [night, "UTC", "2026-11-30T23:10:00Z", "2026-12-01T07:00:00Z"],
  [night, "UTC", "2026-11-30T03:00:00Z", "2026-11-30T07:00:00Z"],
  [night, "UTC", "2026-11-30T12:00:00Z", undefined],
  [{ from: 1, to: 5 }, "UTC", "2026-11-30T01:00:00Z", "2026-11-30T05:00:00Z"],
  [{ from: 1, to: 5 }, "UTC", "2026-11-30T05:00:00Z", undefined],
  [{ from: 4, to: 4 }, "UTC", "2026-11-30T04:00:00Z", undefined],
  [null, "UTC", "2026-11-30T04:00:00Z", undefined],
  [night, "Europe/Berlin", "2026-07-01T20:00:00Z", "2026-07-02T05:00:00Z"],
  [night, "Europe/Berlin", "2026-07-01T05:00:00Z", undefined],
  [night, "America/New_York", "2026-07-01T05:00:00Z", "2026-07-01T11:00:00Z"],
  [night, "Asia/Kolkata", "2026-07-01T16:30:00Z", "2026-07-02T01:30:00Z"],
  // Clocks go forward on 29 March, back on 25 October: the night is an hour shorter, then longer.
  [night, "Europe/Berlin", "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z"],
  [night, "Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z"],
  // 02:00 does not exist on that day: the first moment after the gap.
  [{ from: 23, to: 2 }, "Europe/Berlin", "2026-03-28T22:30:00Z", "2026-03-29T01:00:00Z"],
  // 02:00 comes twice: the first one ends the night, and the hour that is lived twice is not quiet again.
  [{ from: 23, to: 2 }, "Europe/Berlin", "2026-10-24T21:30:00Z", "2026-10-25T00:00:00Z"],
  [{ from: 23, to: 2 }, "Europe/Berlin", "2026-10-25T01:10:00Z", undefined],
] as const;

for (const [quietHours, timeZone, now, end] of cases) {
  Deno.test(`quiet hours ${JSON.stringify(quietHours)} in ${timeZone} at ${now}`, () => {
    const until = afterQuietHours({ quietHours, timeZone }, Date.parse(now));

    assert.equal(new Date(until).toISOString(), new Date(end ?? now).toISOString());
  });
}

Deno.test("a name that is no time zone is refused", () => {
  assert.equal(timeZoneProblem("Europe/Berlin"), undefined);
  assert.match(timeZoneProblem("Mars/Base") ?? "", /no time zone/);
});
