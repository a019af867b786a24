/**
 * One rule in words: what it answers, to which calls, on which conditions, and how often it did. The owner may edit and delete it.
 */
import { Fragment } from "preact";
import type { OrderRequest, RuleView } from "../../edge/api.ts";
import { ActionTag } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Icon } from "../parts/icons.tsx";
import { Age } from "../parts/times.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { momentOf } from "../render/time.ts";
import { policyStrings } from "../strings/policy.ts";
import { printableLine } from "../../lib/printable.ts";

const words = policyStrings.rule;
const sources: Readonly<Record<string, string>> = words.sources;

interface RuleRowProps {
  readonly rule: RuleView;
  /** What the rule changes places with, above and below; nothing where the order is settled. */
  readonly moves?: Moves;
  /** Opens the form; without it the rule is only shown. */
  readonly edit?: ((rule: RuleView) => void) | undefined;
  /** What lint says of it. */
  readonly finding?: string | undefined;
}

/** The orders of the group after one step up or down. */
export interface Moves {
  readonly up?: OrderRequest | undefined;
  readonly down?: OrderRequest | undefined;
}

/** The row. */
export function RuleRow({ rule, moves = {}, edit, finding }: RuleRowProps) {
  return (
    <li class="rule" id={`rule-${rule.id}`}>
      <div class="rule-main">
        <ActionTag action={rule.action} />
        <RuleMatch rule={rule} />
        {edit && <RuleButtons rule={rule} moves={moves} edit={edit} />}
      </div>
      <RuleFacts rule={rule} />
      {finding !== undefined && <p class="rule-finding">{printableLine(finding)}</p>}
      <ChangeNote of={`rule/${rule.id}`} />
    </li>
  );
}

/** Which calls a rule is about. */
export function RuleMatch(
  { rule }: { readonly rule: Pick<RuleView, "toolPattern" | "pathPattern" | "argvPrefix"> },
) {
  return (
    <span class="rule-match">
      <code class="rule-tool">
        <HostileText text={rule.toolPattern} line />
      </code>
      {rule.pathPattern !== null && (
        <code class="word">
          <HostileText text={rule.pathPattern} line />
        </code>
      )}
      {rule.argvPrefix !== null && (
        <span>
          {words.begins}
          {rule.argvPrefix.map((word, index) => (
            // Each by itself: a blank within a word would look like the gap between two.
            <Fragment key={index}>
              {" "}
              <code class="word">
                <HostileText text={word} line />
              </code>
            </Fragment>
          ))}
        </span>
      )}
    </span>
  );
}

function RuleFacts({ rule }: { readonly rule: RuleView }) {
  const { maxUses, uses, lastUsedAt } = rule;
  return (
    <p class="rule-facts">
      {rule.note !== null && (
        <span class="rule-note">
          <HostileText text={rule.note} line />
        </span>
      )}
      {rule.agent !== null && <code>{printableLine(rule.agent)}</code>}
      {rule.source !== null && <span>{sources[rule.source] ?? printableLine(rule.source)}</span>}
      <span>{words.priorityOf(rule.priority)}</span>
      {rule.expiresAt !== null && <span>{words.until(momentOf(rule.expiresAt))}</span>}
      <span>{maxUses === null ? words.uses(uses) : words.usesOf(uses, maxUses)}</span>
      {lastUsedAt !== null && (
        <span>
          {words.lastUsed} <Age at={lastUsedAt} />
        </span>
      )}
      <span>{words.by(printableLine(rule.createdBy))}</span>
    </p>
  );
}

interface RuleButtonsProps {
  readonly rule: RuleView;
  readonly moves: Moves;
  readonly edit: (rule: RuleView) => void;
}

function RuleButtons({ rule, moves, edit }: RuleButtonsProps) {
  const app = useApp();
  const { policy } = app;
  const key = `rule/${rule.id}`;
  const isBusy = useIsBusy(key);
  if (!isOwner(app)) return null;
  const name = printableLine(rule.toolPattern);
  return (
    <span class="rule-buttons">
      <Mover rule={rule} order={moves.up} way="up" />
      <Mover rule={rule} order={moves.down} way="down" />
      <button
        type="button"
        class="button quiet small"
        aria-label={policyStrings.rules.editLabel(name)}
        aria-disabled={isBusy}
        onClick={() => edit(rule)}
      >
        {policyStrings.rules.edit}
      </button>
      <ConfirmButton
        label={policyStrings.delete}
        name={policyStrings.rules.deleteLabel(name)}
        confirm={policyStrings.delete}
        disabled={isBusy}
        onConfirm={() => void policy.changes.run(key, () => policy.commands.deleteRule(rule.id))}
      />
    </span>
  );
}

interface MoverProps {
  readonly rule: RuleView;
  readonly order: OrderRequest | undefined;
  readonly way: "up" | "down";
}

/** One step among the rules of equal priority. The focus goes with the rule. */
function Mover({ rule, order, way }: MoverProps) {
  const { policy } = useApp();
  const key = `rule/${rule.id}`;
  const isBusy = useIsBusy(key);
  if (order === undefined) return null;
  const name = printableLine(rule.toolPattern);
  const move = async () => {
    if (isBusy || !await policy.changes.run(key, () => policy.commands.orderRules(order))) return;
    requestAnimationFrame(() => {
      const buttons = document.getElementById(`rule-${rule.id}`)?.querySelectorAll<HTMLElement>("[data-way]");
      const all = [...buttons ?? []];
      (all.find((button) => button.dataset.way === way) ?? all[0])?.focus();
    });
  };
  return (
    <button
      type="button"
      class="button quiet small icon-button"
      data-way={way}
      aria-label={way === "up" ? policyStrings.rules.moveUp(name) : policyStrings.rules.moveDown(name)}
      aria-disabled={isBusy}
      onClick={() => void move()}
    >
      <Icon name={way} />
    </button>
  );
}
