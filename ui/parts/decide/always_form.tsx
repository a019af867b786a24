/**
 * Deciding once and for all: which rule is made of this call and on which terms, what it would have matched, and then the word. Only scopes that the
 * server offers can be allowed, so never whatever a shell or an interpreter runs; rejecting may also take in every call of the tool.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Item, RuleInput, RuleOffer } from "../../../edge/api.ts";
import { printableLine } from "../../../lib/printable.ts";
import { RuleMatch } from "../../policy/rule_row.tsx";
import { strings } from "../../strings.ts";
import { AlwaysTerms, onTerms, termsFor, termsProblem } from "./always_terms.tsx";
import { Failure, Skeleton } from "../feedback.tsx";
import { RulePreview } from "./rule_preview.tsx";
import { useApp } from "../use_app.ts";
import { useFocus } from "../use_focus.ts";

const words = strings.decide;

interface AlwaysFormProps {
  readonly item: Item;
  readonly busy: boolean;
  readonly back: () => void;
}

/** The form; Escape leaves it without a decision. */
export function AlwaysForm({ item, busy, back }: AlwaysFormProps) {
  const { inbox, policy, now } = useApp();
  const { offers } = policy;
  const answer = useSignal<"allow" | "deny">("allow");
  const chosen = useSignal(0);
  const terms = useSignal(termsFor("allow"));
  const focus = useFocus<HTMLButtonElement>();
  useEffect(() => {
    void offers.ask(item.id);
    return () => offers.clear();
  }, [item.id]);
  const found = offers.answer.value?.offers;
  const isAllow = answer.value === "allow";
  const scopes = found === undefined ? [] : isAllow ? found : denials(item, found);
  const offered = scopes[Math.min(chosen.value, scopes.length - 1)]?.rule;
  const rule = offered && onTerms(offered, terms.value, now.peek());
  const problem = rule && termsProblem(rule, terms.value);
  const send = (event: Event) => {
    event.preventDefault();
    if (rule && problem === undefined) {
      void inbox.decide(item, { decision: isAllow ? "allow_always" : "reject_always", rule });
    }
  };
  const choose = (next: "allow" | "deny") => {
    answer.value = next;
    terms.value = termsFor(next);
    chosen.value = 0;
  };
  const choosing = (index: number) => {
    chosen.value = index;
    // What was written by hand belonged to the other scope.
    const { expiry, maxUses } = terms.value;
    terms.value = { expiry, maxUses };
  };
  return (
    <form
      class="decide decide-form"
      aria-label={words.alwaysTitle}
      onSubmit={send}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <div class="action-chips" role="group" aria-label={words.alwaysTitle}>
        <button
          ref={focus}
          type="button"
          class="action-chip action-allow"
          aria-pressed={isAllow}
          onClick={() => choose("allow")}
        >
          {words.alwaysAllow}
        </button>
        <button
          type="button"
          class="action-chip action-deny"
          aria-pressed={!isAllow}
          onClick={() => choose("deny")}
        >
          {words.alwaysReject}
        </button>
      </div>
      {offers.error.value !== undefined && <Failure message={offers.error.value} />}
      {found === undefined && offers.error.value === undefined && (
        <Skeleton label={words.alwaysLoading} kind="line" rows={2} />
      )}
      {found !== undefined && scopes.length === 0 && <p class="hint">{words.alwaysNone}</p>}
      <Scopes id={item.id} scopes={scopes} chosen={chosen.value} choose={choosing} />
      {offered && <AlwaysTerms terms={terms} offered={offered} />}
      {problem !== undefined && <p class="field-problem" role="alert">{problem}</p>}
      <RulePreview rule={problem === undefined ? rule : undefined} />
      <div class="decide-main">
        <button type="button" class="button large" onClick={back}>{words.cancel}</button>
        <button
          type="submit"
          class={isAllow ? "button primary large" : "button danger-solid large"}
          disabled={busy || rule === undefined || problem !== undefined}
        >
          {isAllow ? words.alwaysAllow : words.alwaysReject}
        </button>
      </div>
    </form>
  );
}

interface ScopesProps {
  readonly id: string;
  readonly scopes: readonly Scope[];
  readonly chosen: number;
  readonly choose: (index: number) => void;
}

function Scopes({ id, scopes, chosen, choose }: ScopesProps) {
  if (scopes.length === 0) return null;
  return (
    <fieldset class="scopes">
      <legend>{words.alwaysScope}</legend>
      {scopes.map(({ label, rule }, index) => (
        <label key={label} class="scope">
          <input
            type="radio"
            name={`scope-${id}`}
            checked={index === chosen}
            onChange={() => choose(index)}
          />
          <span>
            {printableLine(label)}
            <RuleMatch
              rule={{
                toolPattern: rule.toolPattern,
                pathPattern: rule.pathPattern ?? null,
                argvPrefix: rule.argvPrefix ?? null,
              }}
            />
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface Scope {
  readonly label: string;
  readonly rule: RuleInput;
}

/** What may be refused for good: what may be allowed, and every call of the tool. */
function denials(item: Item, offers: readonly RuleOffer[]): Scope[] {
  const denied = offers.map(({ label, rule }): Scope => ({ label, rule: { ...rule, action: "deny" } }));
  const isThere = denied.some(({ rule }) => rule.pathPattern === null && rule.argvPrefix === null);
  if (item.tool === undefined || isThere) return denied;
  const groupId = offers[0]?.rule.groupId;
  const rule: RuleInput = {
    action: "deny",
    toolPattern: item.tool,
    ...(groupId === undefined ? {} : { groupId }),
  };
  return [...denied, { label: words.everyCall(item.tool), rule }];
}
