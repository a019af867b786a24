/**
 * What a rule would have matched among the last calls, before it is saved: asked anew when the rule changes, the last answer kept meanwhile.
 */
import { useEffect } from "preact/hooks";
import type { PreviewAnswer, RuleInput } from "../../../edge/api.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { policyStrings } from "../../strings/policy.ts";
import { Failure } from "../feedback.tsx";
import { Age } from "../times.tsx";
import { useApp } from "../use_app.ts";
import { printableLine } from "../../../lib/printable.ts";

const words = policyStrings.preview;
const SHOWN = 5;
const PAUSE_MS = 350;

/** The preview of `rule`; undefined asks nothing. */
export function RulePreview({ rule }: { readonly rule: RuleInput | undefined }) {
  const { preview } = useApp().policy;
  const key = rule === undefined ? "" : JSON.stringify(rule);
  useEffect(() => {
    if (rule === undefined) return;
    // Not for every letter that is typed.
    const timer = setTimeout(() => void preview.ask(rule), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => () => preview.clear(), []);
  const answer = preview.answer.value;
  if (rule === undefined) return null;
  return (
    <section class="rule-preview" aria-live="polite" aria-busy={preview.isBusy.value}>
      <h3>{words.title}</h3>
      {preview.error.value !== undefined && <Failure message={preview.error.value} />}
      {answer === undefined && preview.error.value === undefined && <p class="hint">{words.busy}</p>}
      {answer && <Matches answer={answer} />}
    </section>
  );
}

function Matches({ answer }: { readonly answer: PreviewAnswer }) {
  const { matched, examined, problem } = answer;
  const shown = matched.slice(0, SHOWN);
  return (
    <>
      {problem !== undefined && <Failure message={printableLine(problem)} />}
      <p class="hint">
        {examined === 0
          ? words.empty
          : matched.length === 0
          ? words.none(examined)
          : words.count(matched.length, examined)}
      </p>
      {shown.length > 0 && (
        <ul class="matches">
          {shown.map((call) => (
            <li key={call.callId}>
              <code>
                <HostileText text={call.tool} line />
              </code>
              <span class="match-summary">
                <HostileText text={call.summary} line />
              </span>
              <span class="faint">
                <HostileText text={call.conversation.title} line />, <Age at={call.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {matched.length > SHOWN && <p class="hint">{words.more(matched.length - SHOWN)}</p>}
    </>
  );
}
