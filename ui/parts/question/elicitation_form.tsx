/**
 * A form that an MCP server wants filled in: its fields as inputs, and its three answers: send, decline, dismiss. What does not fit is said at its
 * field before anything is sent; the edge and the toolbox check it again.
 */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { FormView, Item } from "../../../edge/api.ts";
import { formStrings as words } from "../../strings/form.ts";
import { contentOf, type FormDraft, initialDraft, problemsOf } from "./form_draft.ts";
import { FormInput } from "./form_input.tsx";
import { useApp } from "../use_app.ts";

interface ElicitationFormProps {
  readonly item: Item;
  readonly form: FormView;
}

/** The form. */
export function ElicitationForm({ item, form: { fields } }: ElicitationFormProps) {
  const { inbox } = useApp();
  const draft = useSignal<FormDraft>(initialDraft(fields));
  const wasSent = useSignal(false);
  const element = useRef<HTMLFormElement>(null);
  const problems = wasSent.value ? problemsOf(fields, draft.value) : new Map<string, string>();
  const isBusy = inbox.deciding.value.get(item.id)?.phase === "sending";
  const send = () => {
    wasSent.value = true;
    const wrong = problemsOf(fields, draft.value).keys().next().value;
    if (wrong === undefined) {
      return void inbox.decide(item, { decision: "answer", content: contentOf(fields, draft.value) });
    }
    const index = fields.findIndex(({ name }) => name === wrong);
    element.current?.querySelector<HTMLElement>(`#${CSS.escape(idOf(item, index))}`)?.focus();
  };
  return (
    <form
      ref={element}
      class="decide question elicitation"
      aria-label={words.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {fields.map((field, index) => (
        <FormInput
          key={field.name}
          id={idOf(item, index)}
          field={field}
          value={draft.value[field.name]}
          problem={problems.get(field.name)}
          change={(value) => draft.value = { ...draft.value, [field.name]: value }}
        />
      ))}
      {item.secret && <p class="hint">{words.secretHint}</p>}
      <div class="decide-main">
        <Refusals item={item} busy={isBusy} />
        <button type="submit" class="button primary large" disabled={isBusy}>
          {fields.length === 0 ? words.agree : words.send}
        </button>
      </div>
      <p class="hint">{words.dismissHint}</p>
    </form>
  );
}

function idOf(item: Item, index: number): string {
  return `form-${item.id}-${index}`;
}

/** The two ways of not giving what a server asks for. */
export function Refusals({ item, busy }: { readonly item: Item; readonly busy: boolean }) {
  const { inbox } = useApp();
  const refuse = (decision: "reject_once" | "cancel") => void inbox.decide(item, { decision });
  return (
    <>
      <button type="button" class="button large" disabled={busy} onClick={() => refuse("cancel")}>
        {words.dismiss}
      </button>
      <button type="button" class="button large" disabled={busy} onClick={() => refuse("reject_once")}>
        {words.decline}
      </button>
    </>
  );
}
