/**
 * The two ways to leave an item undecided: *later*, for oneself, and asking somebody else; and the forms behind them. Used by every kind of item
 * that a person answers.
 */
import type { ComponentChildren } from "preact";
import type { Item } from "../../../edge/api.ts";
import { strings } from "../../strings.ts";
import { DelegateForm } from "./delegate_form.tsx";
import { LaterForm } from "./later_form.tsx";

const words = strings.decide;

/** Which of the two is open. */
export type Mark = "later" | "delegate";

interface MarkWaysProps {
  readonly busy: boolean;
  readonly choose: (mark: Mark) => void;
}

/** The two buttons. */
export function MarkWays({ busy, choose }: MarkWaysProps) {
  return (
    <>
      <Way label={words.later} busy={busy} onClick={() => choose("later")} />
      <Way label={words.delegate} busy={busy} onClick={() => choose("delegate")} />
    </>
  );
}

interface MarkFormProps {
  readonly mark: Mark;
  readonly item: Item;
  readonly back: () => void;
}

/** The form of one of them. */
export function MarkForm({ mark, ...rest }: MarkFormProps): ComponentChildren {
  switch (mark) {
    case "later":
      return <LaterForm {...rest} />;
    case "delegate":
      return <DelegateForm {...rest} />;
    default:
      return mark satisfies never;
  }
}

interface WayProps {
  readonly label: string;
  readonly busy: boolean;
  readonly "data-key"?: string;
  readonly onClick: () => void;
}

/** One of the less usual ways. */
export function Way({ label, busy, ...rest }: WayProps) {
  return <button type="button" class="button quiet" disabled={busy} {...rest}>{label}</button>;
}
