/**
 * One answer out of allow, ask, deny and, where it may be left open, unset. A press is the change; nothing is pressed twice. While a change is on its
 * way the buttons keep the focus, which the disabled ones of a browser lose.
 */
import type { RuleAction } from "../../lib/policy/rule.ts";
import { strings } from "../strings.ts";

const actions: readonly RuleAction[] = ["allow", "ask", "deny"];

interface ActionChipsProps {
  readonly label: string;
  readonly value: RuleAction | undefined;
  readonly disabled: boolean;
  /** `undefined` unsets; without `canUnset` it is never given. */
  readonly choose: (action: RuleAction | undefined) => void;
  readonly canUnset?: boolean;
}

/** The row of buttons. */
export function ActionChips({ label, value, disabled, choose, canUnset = false }: ActionChipsProps) {
  const choices: readonly (RuleAction | undefined)[] = canUnset ? [undefined, ...actions] : actions;
  return (
    <div class="action-chips" role="group" aria-label={label}>
      {choices.map((action) => (
        <button
          key={action ?? "unset"}
          type="button"
          class={`action-chip action-${action ?? "unset"}`}
          aria-pressed={value === action}
          aria-disabled={disabled}
          onClick={() => value !== action && !disabled && choose(action)}
        >
          {action === undefined ? strings.policy.unset : strings.policy.actions[action]}
        </button>
      ))}
    </div>
  );
}

/** An answer as a tag. */
export function ActionTag({ action }: { readonly action: RuleAction }) {
  return <span class={`tag action-${action}`}>{strings.policy.actions[action]}</span>;
}
