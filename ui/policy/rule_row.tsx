/**
 * One rule in words: what it answers, to which calls, on which conditions, and how often it did. The owner may edit and delete it.
 */
import type { RuleView } from "../../edge/api.ts";
import { ActionTag } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
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
  /** Opens the form; without it the rule is only shown. */
  readonly edit?: ((rule: RuleView) => void) | undefined;
  /** What lint says of it. */
  readonly finding?: string | undefined;
}

/** The row. */
export function RuleRow({ rule, edit, finding }: RuleRowProps) {
  return (
    <li class="rule" id={`rule-${rule.id}`}>
      <div class="rule-main">
        <ActionTag action={rule.action} />
        <RuleMatch rule={rule} />
        {edit && <RuleButtons rule={rule} edit={edit} />}
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
          {words.begins}{" "}
          <code class="word">
            <HostileText text={rule.argvPrefix.join(" ")} line />
          </code>
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

function RuleButtons({ rule, edit }: { readonly rule: RuleView; readonly edit: (rule: RuleView) => void }) {
  const app = useApp();
  const { policy } = app;
  const key = `rule/${rule.id}`;
  const isBusy = useIsBusy(key);
  if (!isOwner(app)) return null;
  const name = printableLine(rule.toolPattern);
  return (
    <span class="rule-buttons">
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
