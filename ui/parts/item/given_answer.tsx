/** What a person gave to a server that asked: the form's values by their labels, or that they opened the page; a secret only as sent. */
import type { DecisionView, Item } from "../../../edge/api.ts";
import { HostileText } from "../../render/hostile_text.tsx";
import { strings } from "../../strings.ts";
import { formStrings as words } from "../../strings/form.ts";

/** What was done, in one or two words. */
export function wordOf({ kind, link }: Item, { decision }: DecisionView): string {
  if (kind !== "elicitation") return strings.decisions[decision];
  if (decision === "answer") return link ? words.outcomes.opened : words.outcomes.answer;
  return decision === "cancel" || decision === "reject_once"
    ? words.outcomes[decision]
    : strings.decisions[decision];
}

/** The answer itself. */
export function GivenAnswer({ item, decision }: { readonly item: Item; readonly decision: DecisionView }) {
  const { answer } = decision;
  if (item.kind === "approval" || decision.decision !== "answer" || item.link) return null;
  if (item.secret) return <p class="hint">{words.sealed}</p>;
  if (answer === undefined) return null;
  const values = item.form && valuesOf(answer);
  if (!item.form || !values) {
    return (
      <blockquote>
        <HostileText text={answer} />
      </blockquote>
    );
  }
  return (
    <dl class="fact-list">
      {item.form.fields.filter(({ name }) => Object.hasOwn(values, name)).map(({ name, label }) => (
        <div key={name} class="fact">
          <dt>
            <HostileText text={label} line />
          </dt>
          <dd>
            <HostileText text={shown(values[name])} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function valuesOf(answer: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(answer);
    // Checked on this line; each value is shown as text, whatever it is.
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  if (typeof value === "boolean") return value ? words.yes : words.no;
  return Array.isArray(value) ? value.join(", ") : String(value);
}
