/**
 * Messages that were given up: for whom, why, how often they failed; the owner lets one be tried again or ends it.
 */
import { useEffect } from "preact/hooks";
import type { DeadLetterView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { strings } from "../strings.ts";
import { ChangeNote, useIsBusy } from "./change_note.tsx";
import { ConfirmButton } from "./confirm_button.tsx";
import { Failure } from "./feedback.tsx";
import { Age } from "./times.tsx";
import { isOwner, useApp } from "./use_app.ts";

const words = strings.deadLetters;

/** The section; nothing while no message was given up. */
export function DeadLetters() {
  const app = useApp();
  const { deadLetters } = app.policy;
  useEffect(() => {
    if (isOwner(app)) void deadLetters.load();
  }, [app.actors.actors.value]);
  const letters = deadLetters.value.value?.deadLetters ?? [];
  const error = deadLetters.error.value;
  if (!isOwner(app)) return null;
  if (error !== undefined) return <Failure message={error} retry={() => void deadLetters.load()} />;
  if (letters.length === 0) return null;
  return (
    <section class="actor-group" aria-labelledby="dead-letters">
      <h2 id="dead-letters">{words.title}</h2>
      <p class="hint">{words.note}</p>
      <ul class="dead-letters">{letters.map((letter) => <DeadLetter key={letter.id} letter={letter} />)}</ul>
    </section>
  );
}

function DeadLetter({ letter }: { readonly letter: DeadLetterView }) {
  const { policy } = useApp();
  const key = `letter/${letter.id}`;
  const isBusy = useIsBusy(key);
  const type = printableLine(letter.type);
  const settle = (how: "retry" | "discard") =>
    void policy.changes.run(key, () => policy.commands.settleLetter(letter.id, how));
  return (
    <li class="card entry">
      <div class="entry-head">
        <span class="entry-what">
          <code class="rule-tool">{type}</code>
          <span class="tag tag-danger">{printableLine(letter.reason)}</span>
        </span>
        <span class="faint">
          <Age at={letter.at} />
        </span>
      </div>
      <p class="hint">
        {words.fromTo(printableLine(letter.from), printableLine(letter.to))} ·{" "}
        {words.failures(letter.failures)}
      </p>
      {letter.detail !== undefined && (
        <p class="outcome-line outcome-refused">
          <HostileText text={letter.detail} />
        </p>
      )}
      <div class="entry-foot">
        <button
          type="button"
          class="button small"
          aria-label={words.retryLabel(type)}
          aria-disabled={isBusy}
          onClick={() => settle("retry")}
        >
          {words.retry}
        </button>
        <ConfirmButton
          label={words.discard}
          name={words.discardLabel(type)}
          confirm={words.discardConfirm}
          class="button danger small"
          disabled={isBusy}
          onConfirm={() => settle("discard")}
        />
      </div>
      <ChangeNote of={key} />
    </li>
  );
}
