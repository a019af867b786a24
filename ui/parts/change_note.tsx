/**
 * How a change goes, beside what it changes: on its way, accepted and not yet carried out, or refused with the reason.
 */
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import { useApp } from "./use_app.ts";

/** Whether the change is on its way. */
export function useIsBusy(key: string): boolean {
  const phase = useApp().policy.changes.progress.value.get(key)?.phase;
  return phase === "sending" || phase === "accepted";
}

/** The line of the change `of`; nothing while there is none. */
export function ChangeNote({ of }: { readonly of: string }) {
  const progress = useApp().policy.changes.progress.value.get(of);
  return (
    <div class="change" aria-live="polite">
      {progress?.phase === "refused" && (
        <p class="outcome-line outcome-refused">
          <Icon name="alert" />
          <span>{progress.message}</span>
        </p>
      )}
      {progress?.phase === "sending" && <p class="hint">{strings.policy.sending}</p>}
      {progress?.phase === "accepted" && <p class="hint">{strings.policy.accepted}</p>}
    </div>
  );
}
