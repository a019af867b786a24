/**
 * Rejecting several items at once: says how many, asks for a second word and takes one note for all. There is no such way to allow: each call is read before
 * it runs. What was decided meanwhile is left alone by the server. Proven by `tests/browser/bulk_test.ts`.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { canRejectMany } from "../../store/inbox_filter.ts";
import { strings } from "../../strings.ts";
import { NoteField } from "../decide/note_field.tsx";
import { useApp } from "../use_app.ts";

const words = strings.inbox.bulk;

interface BulkRejectProps {
  /** Ids; those that wait no more do not count. */
  readonly selected: Signal<ReadonlySet<string>>;
  /** What is on the screen: nothing is rejected that is not. */
  readonly shown: readonly Item[];
}

/** The bar at the foot of the list; nothing while nothing is chosen. */
export function BulkReject({ selected, shown }: BulkRejectProps) {
  const { inbox } = useApp();
  const isAsking = useSignal(false);
  const chosen = shown.filter((item) => selected.value.has(item.id) && canRejectMany(item));
  if (chosen.length === 0) return null;
  const clear = () => {
    isAsking.value = false;
    selected.value = new Set();
  };
  const reject = async (note: string) => {
    clear();
    const more = note === "" ? {} : { note };
    // One after the other: the server counts a person's writes.
    for (const item of chosen) await inbox.decide(item, { decision: "reject_once", ...more });
  };
  return (
    <div class="bulk card" role="group" aria-label={words.label}>
      {isAsking.value
        ? <Ask count={chosen.length} reject={reject} back={() => isAsking.value = false} />
        : (
          <div class="bulk-line">
            <span aria-live="polite">{words.chosen(chosen.length)}</span>
            <button type="button" class="button small" onClick={clear}>{words.clear}</button>
            <button type="button" class="button danger small" onClick={() => isAsking.value = true}>
              {words.reject}
            </button>
          </div>
        )}
    </div>
  );
}

interface AskProps {
  readonly count: number;
  readonly reject: (note: string) => Promise<void>;
  readonly back: () => void;
}

function Ask({ count, reject, back }: AskProps) {
  const note = useSignal("");
  return (
    <form
      class="bulk-form"
      aria-label={words.ask(count)}
      onSubmit={(event) => {
        event.preventDefault();
        void reject(note.value.trim());
      }}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <NoteField note={note} />
      <div class="decide-main">
        <button type="button" class="button" onClick={back}>{strings.decide.cancel}</button>
        <button type="submit" class="button danger-solid">{words.ask(count)}</button>
      </div>
    </form>
  );
}
