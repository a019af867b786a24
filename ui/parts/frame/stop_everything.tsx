/**
 * The stop switch: a card in the settings, and a line over every screen while everything is stopped. Only the owner stops and lifts; everybody sees it.
 */
import { printableLine } from "../../../lib/printable.ts";
import { stopStrings as words } from "../../strings/policy.ts";
import { ChangeNote, useIsBusy } from "../change_note.tsx";
import { ConfirmButton } from "../confirm_button.tsx";
import { Icon } from "../icons.tsx";
import { Age } from "../times.tsx";
import { isOwner, useApp } from "../use_app.ts";

const KEY = "effects";

/** The line; nothing while effects run. */
export function StoppedBanner() {
  const app = useApp();
  const suspended = app.policy.effects.value.value?.suspended;
  if (!suspended) return null;
  return (
    <section class="stopped" aria-label={words.stopped} role="status">
      <Icon name="halt" />
      <div>
        <p>
          <strong>{words.stopped}</strong> {words.by(printableLine(suspended.by))}
          {suspended.at > 0 && (
            <>
              , <Age at={suspended.at} />
            </>
          )}
        </p>
        <p class="stopped-note">{words.held}</p>
        <ChangeNote of={KEY} />
      </div>
      {isOwner(app) && <LiftButton />}
    </section>
  );
}

function LiftButton() {
  const { policy } = useApp();
  return (
    <button
      type="button"
      class="button small"
      aria-disabled={useIsBusy(KEY)}
      onClick={() => void policy.changes.run(KEY, () => policy.commands.resumeEffects())}
    >
      {words.lift}
    </button>
  );
}

/** The card of the settings, for the owner. */
export function StopCard() {
  const app = useApp();
  const { policy } = app;
  const isBusy = useIsBusy(KEY);
  const effects = policy.effects.value.value;
  if (!isOwner(app) || effects === undefined) return null;
  return (
    <section class="card stop-card" aria-labelledby="stop">
      <h2 id="stop">{words.title}</h2>
      <p class="hint">{words.body}</p>
      <div>
        {effects.suspended ? <LiftButton /> : (
          <ConfirmButton
            label={words.stop}
            confirm={words.confirm}
            keep={words.keep}
            class="button danger"
            disabled={isBusy}
            onConfirm={() => void policy.changes.run(KEY, () => policy.commands.suspendEffects())}
          />
        )}
      </div>
      {!effects.suspended && <ChangeNote of={KEY} />}
    </section>
  );
}
