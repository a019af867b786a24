/**
 * Allowing a call with other arguments. The text must be a JSON object and must differ; whether it fits the tool the server says.
 */
import { useSignal } from "@preact/signals";
import type { Item } from "../../edge/api.ts";
import { strings } from "../strings.ts";
import { jsonOf } from "./item_facts.tsx";
import { useFocus } from "./use_focus.ts";
import { useApp } from "./use_app.ts";

const words = strings.decide;

/** The JSON object in `text`, else undefined. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value));
  } catch {
    return undefined;
  }
}

interface EditArgumentsProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** The form; Escape leaves it without a decision. */
export function EditArguments({ item, busy, back }: EditArgumentsProps) {
  const { inbox } = useApp();
  const original = jsonOf(item.arguments);
  const text = useSignal(original);
  const focus = useFocus<HTMLTextAreaElement>();
  const edited = parsedObject(text.value);
  const isSame = edited !== undefined && jsonOf(edited) === original;
  const hintId = `edit-hint-${item.id}`;
  const send = (event: Event) => {
    event.preventDefault();
    if (edited !== undefined && !isSame) {
      void inbox.decide(item, { decision: "edit_and_allow", arguments: edited });
    }
  };
  return (
    <form
      class="decide decide-form"
      aria-label={words.editTitle}
      onSubmit={send}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <label class="field">
        <span>{words.editTitle}</span>
        <textarea
          ref={focus}
          class="mono"
          rows={Math.min(16, original.split("\n").length + 1)}
          spellcheck={false}
          autocapitalize="off"
          aria-describedby={hintId}
          aria-invalid={edited === undefined}
          value={text.value}
          onInput={(event) => text.value = event.currentTarget.value}
        />
      </label>
      <p class="hint" id={hintId} aria-live="polite">
        {edited === undefined ? words.badJson : isSame ? words.unchanged : words.editHint}
      </p>
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button type="submit" class="button primary large" disabled={busy || edited === undefined || isSame}>
          {words.sendEdit}
        </button>
      </div>
    </form>
  );
}
