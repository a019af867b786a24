/**
 * Putting an item off, for the person alone: it stays undecided, leaves the badge until the time comes, and can be brought back before. Proven by
 * `tests/browser/decide_test.ts`.
 */
import { useSignal } from "@preact/signals";
import type { Item } from "../../../edge/api.ts";
import { type LaterChoice, laterTime, localMinute, MAX_LATER_MS, momentIn } from "../../store/later.ts";
import { strings } from "../../strings.ts";
import { useApp } from "../use_app.ts";
import { useFocus } from "../use_focus.ts";

const words = strings.decide;
const choices: readonly LaterChoice[] = ["quarter", "hour", "morning"];

interface LaterFormProps {
  readonly item: Item;
  readonly back: () => void;
}

/** The form; Escape leaves the item where it is. */
export function LaterForm({ item, back }: LaterFormProps) {
  const { inbox, now } = useApp();
  const field = useSignal("");
  const focus = useFocus<HTMLButtonElement>();
  const chosen = momentIn(field.value, now.peek());
  const putOff = async (until: number) => {
    await inbox.later(item, until);
    back();
  };
  return (
    <form
      class="decide decide-form"
      aria-label={words.laterTitle}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== undefined) void putOff(chosen);
      }}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <p class="form-title">{words.laterTitle}</p>
      <div class="chips">
        {choices.map((choice, index) => (
          <button
            key={choice}
            {...(index === 0 ? { ref: focus } : {})}
            type="button"
            class="chip"
            onClick={() => void putOff(laterTime(choice, now.peek()))}
          >
            {words.laterChoices[choice]}
          </button>
        ))}
      </div>
      <label class="field">
        <span>{words.laterAt}</span>
        <input
          type="datetime-local"
          min={localMinute(now.peek())}
          max={localMinute(now.peek() + MAX_LATER_MS)}
          value={field.value}
          onInput={(event) => field.value = event.currentTarget.value}
        />
      </label>
      <p class="hint">{words.laterHint}</p>
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button type="submit" class="button primary large" disabled={chosen === undefined}>
          {words.later}
        </button>
      </div>
    </form>
  );
}
