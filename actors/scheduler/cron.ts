/**
 * When a cron expression fires next, in a time zone. The only importer of `croner`. Five fields, or six with seconds first. Around a change of
 * the clocks: a job at one fixed time runs once a day, whatever happens; a time that does not exist runs when the clock has jumped; a time
 * that comes twice runs the first time. A job with a wildcard or step goes by what the clock shows: it skips the hour that does not exist and
 * runs in both of the hour that comes twice. Proven by `scheduler_test.ts`.
 */
import { Cron } from "croner";

/** An expression in a time zone. */
export interface CronText {
  readonly expression: string;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

/** Why it is none, in words for the person who wrote it, or undefined. */
export function cronProblem(cron: CronText): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: cron.timeZone });
  } catch {
    return `"${cron.timeZone}" is no time zone; use a name such as Europe/Berlin`;
  }
  try {
    build(cron);
    return undefined;
  } catch (error) {
    return `"${cron.expression}" is no cron expression: ${
      error instanceof Error ? error.message : String(error)
    }`;
  }
}

/** The first time after `after`, or undefined when there is none. Milliseconds since the epoch. Throws for what `cronProblem` refuses. */
export function nextCron(cron: CronText, after: number): number | undefined {
  return build(cron).nextRun(new Date(after))?.getTime();
}

function build({ expression, timeZone }: CronText): Cron {
  const fields = expression.trim();
  if (fields.startsWith("@")) throw new TypeError("nicknames are not supported; write five fields");
  return new Cron(fields, { timezone: timeZone, paused: true, mode: "5-or-6-parts" });
}
