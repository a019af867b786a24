/** The words that go with a rejection, in a field that takes the focus. */
import type { Signal } from "@preact/signals";
import { strings } from "../../strings.ts";
import { useFocus } from "../use_focus.ts";

/** The field. */
export function NoteField({ note }: { readonly note: Signal<string> }) {
  const focus = useFocus<HTMLTextAreaElement>();
  return (
    <label class="field">
      <span>{strings.decide.note}</span>
      <textarea
        ref={focus}
        rows={2}
        maxLength={4000}
        value={note.value}
        onInput={(event) => note.value = event.currentTarget.value}
      />
    </label>
  );
}
