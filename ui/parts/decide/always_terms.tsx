/**
 * On which terms a lasting rule is made from the card: when it ends, how often it may be used, and, by hand, how far it reaches. What a scope names, a path
 * or a command, can be written anew but not left out: that would be another scope. Proven by `tests/browser/policy_test.ts`.
 */
import type { Signal } from "@preact/signals";
import type { RuleInput } from "../../../edge/api.ts";
import { ruleProblem } from "../../../lib/policy/check_rule.ts";
import { expiresAt, type Expiry, limitOf, limitProblem, wordsOf } from "../../policy/rule_draft.ts";
import { strings } from "../../strings.ts";
import { policyStrings } from "../../strings/policy.ts";

const words = strings.decide;
const expiries: readonly Expiry[] = ["hour", "day", "week", "month", "never"];

/** What the person chose; a text is absent while the scope's own stands. */
export interface Terms {
  readonly expiry: Expiry;
  readonly maxUses: string;
  readonly path?: string;
  /** One word a line. */
  readonly argv?: string;
}

/** Where a rule of this answer begins: an allowance ends by itself. */
export function termsFor(answer: "allow" | "deny"): Terms {
  return { expiry: answer === "allow" ? "month" : "never", maxUses: "" };
}

/** The offered rule on these terms. */
export function onTerms(rule: RuleInput, { expiry, maxUses, path, argv }: Terms, now: number): RuleInput {
  return {
    ...rule,
    expiresAt: expiresAt(expiry, now),
    maxUses: limitOf(maxUses),
    ...(path === undefined || rule.pathPattern == null ? {} : { pathPattern: path.trim() }),
    ...(argv === undefined || rule.argvPrefix == null ? {} : { argvPrefix: wordsOf(argv) }),
  };
}

/** Why the rule may not be made, in words. */
export function termsProblem(
  { action, toolPattern, pathPattern = null, argvPrefix = null }: RuleInput,
  { maxUses }: Terms,
): string | undefined {
  if (pathPattern === "") return words.pathNeeded;
  return ruleProblem({ action, toolPattern, pathPattern, argvPrefix }) ?? limitProblem(maxUses);
}

interface AlwaysTermsProps {
  readonly terms: Signal<Terms>;
  /** As the server offers it. */
  readonly offered: RuleInput;
}

/** The fields. */
export function AlwaysTerms({ terms, offered }: AlwaysTermsProps) {
  const set = (more: Partial<Terms>) => {
    terms.value = { ...terms.value, ...more };
  };
  const { expiry, maxUses, path, argv } = terms.value;
  return (
    <>
      <div class="field-pair">
        <label class="field">
          <span>{policyStrings.rule.expires}</span>
          <select
            value={expiry}
            onChange={(event) =>
              set({ expiry: expiries.find((known) => known === event.currentTarget.value) ?? "month" })}
          >
            {expiries.map((known) => (
              <option key={known} value={known}>{policyStrings.rule.expiry[known]}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{policyStrings.rule.maxUses}</span>
          <input
            type="text"
            inputMode="numeric"
            value={maxUses}
            onInput={(event) => set({ maxUses: event.currentTarget.value })}
          />
        </label>
      </div>
      {(offered.pathPattern != null || offered.argvPrefix != null) && (
        <details class="more-fields">
          <summary>{words.byHand}</summary>
          {offered.pathPattern != null && (
            <label class="field">
              <span>{words.handPath}</span>
              <input
                type="text"
                class="mono"
                autocapitalize="off"
                spellcheck={false}
                value={path ?? offered.pathPattern}
                onInput={(event) => set({ path: event.currentTarget.value })}
              />
            </label>
          )}
          {offered.argvPrefix != null && (
            <label class="field">
              <span>{words.handArgv}</span>
              <textarea
                class="mono"
                rows={offered.argvPrefix.length + 1}
                autocapitalize="off"
                spellcheck={false}
                value={argv ?? offered.argvPrefix.join("\n")}
                onInput={(event) => set({ argv: event.currentTarget.value })}
              />
            </label>
          )}
        </details>
      )}
    </>
  );
}
