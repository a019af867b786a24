/**
 * Rejecting with a word to the agent: it goes on with its turn and knows why.
 */
import { useSignal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { strings } from "../../strings.ts";
import { NoteField } from "./note_field.tsx";
import { useApp } from "../use_app.ts";

const words = strings.decide;

interface RejectFormProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** The form; Escape leaves it without a decision. */
export function RejectForm({ item, busy, back }: RejectFormProps) {
  const { inbox } = useApp();
  const note = useSignal("");
  const send = (event: Event) => {
    event.preventDefault();
    const text = note.value.trim();
    void inbox.decide(item, { decision: "reject_once", ...(text === "" ? {} : { note: text }) });
  };
  return (
    <form
      class="decide decide-form"
      aria-label={words.rejectTitle}
      onSubmit={send}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <NoteField note={note} />
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button type="submit" class="button danger-solid large" disabled={busy}>{words.sendReject}</button>
      </div>
    </form>
  );
}
