/**
 * Answering a question, a server's form or a server's page, or leaving it for later or to somebody else. Of a question: suggestions fill the box and do not send, Enter sends, Shift+Enter makes a new line, a blank answer goes nowhere.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Item } from "../../../edge/api.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { strings } from "../../strings.ts";
import { formStrings } from "../../strings/form.ts";
import { ElicitationForm } from "./elicitation_form.tsx";
import { LinkQuestion } from "./link_question.tsx";
import { type Mark, MarkForm, MarkWays, Way } from "../decide/mark_ways.tsx";
import { mayAct, useApp } from "../use_app.ts";

const words = strings.question;

/** Whether a key press in a text box means *send*. A composing input method keeps its Enter. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing;
}

/** The form that fits what is asked; what was typed in it stays there while another way is looked at. */
export function QuestionForm({ item }: { readonly item: Item }) {
  const app = useApp();
  const mark = useSignal<Mark | undefined>(undefined);
  const isBusy = app.inbox.deciding.value.get(item.id)?.phase === "sending";
  if (!mayAct(app)) return <p class="hint">{strings.decide.viewOnly}</p>;
  return (
    <>
      <div hidden={mark.value !== undefined}>
        <Answer item={item} />
        <div class="decide-more">
          <MarkWays busy={isBusy} choose={(chosen) => mark.value = chosen} />
          {item.kind === "question" && (
            <Way
              label={formStrings.stopTurn}
              busy={isBusy}
              onClick={() => void app.inbox.decide(item, { decision: "cancel" })}
            />
          )}
        </div>
      </div>
      {mark.value !== undefined && (
        <MarkForm
          mark={mark.value}
          item={item}
          back={() => mark.value = undefined}
        />
      )}
    </>
  );
}

function Answer({ item }: { readonly item: Item }): ComponentChildren {
  if (item.link) return <LinkQuestion item={item} link={item.link} />;
  if (item.form) return <ElicitationForm item={item} form={item.form} />;
  return <WordsForm item={item} />;
}

function WordsForm({ item }: { readonly item: Item }) {
  const app = useApp();
  const answer = useSignal("");
  const isBusy = app.inbox.deciding.value.get(item.id)?.phase === "sending";
  const send = () => {
    const text = answer.value.trim();
    if (text !== "") void app.inbox.decide(item, { decision: "answer", answer: text });
  };
  return (
    <form
      class="decide question"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {item.suggestions && item.suggestions.length > 0 && (
        <ul class="chips" aria-label={words.suggestions}>
          {item.suggestions.map((suggestion) => (
            <li key={suggestion}>
              <button
                type="button"
                class="chip"
                aria-pressed={answer.value === suggestion}
                onClick={() => answer.value = suggestion}
              >
                <HostileText text={suggestion} line />
              </button>
            </li>
          ))}
        </ul>
      )}
      {item.secret ? <SecretField answer={answer} /> : <AnswerField answer={answer} send={send} />}
      <div class="decide-main">
        <button
          type="button"
          class="button large"
          disabled={isBusy}
          onClick={() => void app.inbox.decide(item, { decision: "reject_once" })}
        >
          {words.decline}
        </button>
        <button type="submit" class="button primary large" disabled={isBusy || answer.value.trim() === ""}>
          {words.send}
        </button>
      </div>
    </form>
  );
}

type OfAnswer = { readonly answer: Signal<string> };

function AnswerField({ answer, send }: OfAnswer & { readonly send: () => void }) {
  return (
    <label class="field">
      <span class="visually-hidden">{words.answer}</span>
      <textarea
        rows={2}
        maxLength={20_000}
        placeholder={words.placeholder}
        value={answer.value}
        onInput={(event) => answer.value = event.currentTarget.value}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return;
          event.preventDefault();
          send();
        }}
      />
    </label>
  );
}

/** Shows nothing and is offered to no password store. */
function SecretField({ answer }: OfAnswer) {
  return (
    <label class="field">
      <span>{words.secret}</span>
      <input
        type="password"
        autocomplete="one-time-code"
        value={answer.value}
        onInput={(event) => answer.value = event.currentTarget.value}
      />
      <span class="hint">{words.secretHint}</span>
    </label>
  );
}
