/**
 * Turns that will start by themselves: what will be said, where, when next, and the way to cancel.
 */
import type { ScheduleView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { Age } from "../parts/times.tsx";
import { mayAct, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { leftOf, momentOf, spanOf } from "../render/time.ts";
import { policyStrings } from "../strings/policy.ts";
import { Listed, PolicyHead } from "./policy.tsx";

const words = policyStrings.schedules;

/** The screen. */
export function Schedules() {
  const { policy } = useApp();
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.schedules.title} note={policyStrings.pages.schedules.note} />
      <Listed reading={policy.schedules}>
        {({ schedules }) =>
          schedules.length === 0
            ? <Empty icon="schedules" title={words.none}>{words.noneBody}</Empty>
            : (
              <ul class="hub">
                {[...schedules].sort(byNext).map((schedule) => (
                  <li key={schedule.id}>
                    <Schedule schedule={schedule} />
                  </li>
                ))}
              </ul>
            )}
      </Listed>
    </div>
  );
}

function byNext(a: ScheduleView, b: ScheduleView): number {
  return (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || a.id.localeCompare(b.id);
}

function Schedule({ schedule }: { readonly schedule: ScheduleView }) {
  const app = useApp();
  const { policy } = app;
  const key = `schedule/${schedule.id}`;
  const isBusy = useIsBusy(key);
  const name = printableLine(schedule.key);
  return (
    <article class="card entry" aria-label={name}>
      <div class="entry-head">
        <span class="entry-what">
          <span class="tag">{rhythmOf(schedule)}</span>
          <code class="rule-tool">{name}</code>
          {!schedule.enabled && <span class="tag tag-danger">{words.disabled}</span>}
        </span>
        <Next schedule={schedule} />
      </div>
      <blockquote class="entry-quote">
        <HostileText text={schedule.prompt} />
      </blockquote>
      <Link to={{ name: "chat", id: schedule.conversation.id }} class="entry-where">
        <HostileText text={schedule.conversation.title} line />
      </Link>
      <div class="entry-foot">
        <p class="hint">
          {policyStrings.rule.by(printableLine(schedule.createdBy))} · {words.last}{" "}
          {schedule.lastAt === null ? words.never : <Age at={schedule.lastAt} />}
        </p>
        {mayAct(app) && (
          <ConfirmButton
            label={words.cancel}
            name={words.cancelLabel(name)}
            confirm={words.confirm}
            class="button danger small"
            disabled={isBusy}
            onConfirm={() => void policy.changes.run(key, () => policy.commands.cancelSchedule(schedule.id))}
          />
        )}
      </div>
      <ChangeNote of={key} />
    </article>
  );
}

function Next({ schedule }: { readonly schedule: ScheduleView }) {
  const now = useApp().now.value;
  const { nextAt, enabled } = schedule;
  if (nextAt === null || !enabled) return <span class="left faint">{words.ended}</span>;
  return (
    <span class="left">
      <time dateTime={new Date(nextAt).toISOString()}>
        <strong>{words.in(leftOf(nextAt, now))}</strong>
      </time>
      <span class="faint">{momentOf(nextAt)}</span>
    </span>
  );
}

function rhythmOf({ spec, timeZone }: ScheduleView): string {
  switch (spec.kind) {
    case "once":
      return words.once;
    case "every":
      return words.every(spanOf(spec.everyMs));
    case "cron":
      return words.cron(printableLine(spec.expression), printableLine(timeZone));
    default:
      return spec satisfies never;
  }
}
