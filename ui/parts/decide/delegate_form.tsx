/**
 * Asking somebody else to decide, of those who may: decides nothing, and can be taken back.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Item } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { strings } from "../../strings.ts";
import { Failure } from "../feedback.tsx";
import { useApp } from "../use_app.ts";
import { useFocus } from "../use_focus.ts";

const words = strings.decide;

interface DelegateFormProps {
  readonly item: Item;
  readonly back: () => void;
}

/** The form; Escape leaves everything as it is. */
export function DelegateForm({ item, back }: DelegateFormProps) {
  const { inbox, policy } = useApp();
  const { deciders } = policy;
  const chosen = useSignal("");
  const focus = useFocus<HTMLSelectElement>();
  useEffect(() => {
    void deciders.ask(item.id);
    return () => deciders.clear();
  }, [item.id]);
  const others = deciders.answer.value?.people;
  const send = async (userId: string | null) => {
    await inbox.delegate(item, userId);
    back();
  };
  return (
    <form
      class="decide decide-form"
      aria-label={words.delegateTitle}
      onSubmit={(event) => {
        event.preventDefault();
        void send(chosen.value);
      }}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      {deciders.error.value !== undefined && <Failure message={deciders.error.value} />}
      {others?.length === 0 && <p class="hint">{words.delegateNobody}</p>}
      <label class="field">
        <span>{words.delegateTitle}</span>
        <select
          ref={focus}
          value={chosen.value}
          onChange={(event) => chosen.value = event.currentTarget.value}
        >
          <option value="">{words.delegateChoose}</option>
          {others?.map(({ id, name }) => <option key={id} value={id}>{printableLine(name)}</option>)}
        </select>
      </label>
      <p class="hint">{words.delegateHint}</p>
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button type="submit" class="button primary large" disabled={chosen.value === ""}>
          {words.delegateSend}
        </button>
        {item.delegatedTo && (
          <button type="button" class="button quiet" onClick={() => void send(null)}>
            {words.delegateBack}
          </button>
        )}
      </div>
    </form>
  );
}
