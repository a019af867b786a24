/** Push messages in the settings: whether this device gets them, on, off, and a test. */
import { useEffect } from "preact/hooks";
import type { PushOutcome } from "../../edge/api.ts";
import { pushStrings as words } from "../strings/push.ts";
import { Failure } from "./feedback.tsx";
import { Age } from "./times.tsx";
import { useApp } from "./use_app.ts";

/** The card. */
export function PushCard() {
  const { push } = useApp();
  useEffect(() => void push.load(), []);
  const status = push.status.value;
  return (
    <section class="card" aria-labelledby="push">
      <h2 id="push">{words.title}</h2>
      <p class="hint">{words.note}</p>
      <p role="status">{words.states[status]}</p>
      {push.error.value !== undefined && <Failure message={push.error.value} />}
      <PushButtons />
      {status === "on" && (
        <>
          {push.isTesting.value && <p role="status">{words.testing}</p>}
          <Outcome name={words.lastTest} outcome={push.test.value} />
          <Outcome name={words.last} outcome={push.last.value} />
        </>
      )}
    </section>
  );
}

function PushButtons() {
  const { push } = useApp();
  const isBusy = push.busy.value;
  const button = (text: string, run: () => Promise<void>, kind = "") => (
    <button
      type="button"
      class={`button ${kind}`}
      disabled={isBusy}
      onClick={() => void run()}
    >
      {text}
    </button>
  );
  switch (push.status.value) {
    case "on":
      return (
        <div class="button-row">
          {button(words.test, push.sendTest)}
          {button(words.off, push.turnOff, "quiet")}
        </div>
      );
    case "off":
    case "blocked":
      return button(words.on, push.turnOn, "primary");
    default:
      return null;
  }
}

function Outcome({ name, outcome }: { readonly name: string; readonly outcome: PushOutcome | undefined }) {
  if (outcome === undefined) return null;
  return (
    <p class="hint">
      {name}: {words.outcomes[outcome.state]}, <Age at={outcome.at} />
    </p>
  );
}
