/**
 * Asking somebody else to decide: decides nothing, and can be taken back.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Item } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { strings } from "../strings.ts";
import { Failure } from "./feedback.tsx";
import { useApp } from "./use_app.ts";

const words = strings.decide;

interface DelegateFormProps {
  readonly item: Item;
  readonly back: () => void;
}

/** The form; Escape leaves everything as it is. */
export function DelegateForm({ item, back }: DelegateFormProps) {
  const { inbox, policy, session } = useApp();
  const { people } = policy;
  const chosen = useSignal("");
  useEffect(() => void people.ask(undefined), []);
  const own = session.me.value?.user.id;
  const others = people.answer.value?.users.filter(({ id, role }) => id !== own && role !== "viewer") ?? [];
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
      {people.error.value !== undefined && <Failure message={people.error.value} />}
      {people.answer.value !== undefined && others.length === 0 && <p class="hint">{words.delegateNobody}</p>}
      <label class="field">
        <span>{words.delegateTitle}</span>
        <select autoFocus value={chosen.value} onChange={(event) => chosen.value = event.currentTarget.value}>
          <option value="">{words.delegateChoose}</option>
          {others.map(({ id, name }) => <option key={id} value={id}>{printableLine(name)}</option>)}
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
