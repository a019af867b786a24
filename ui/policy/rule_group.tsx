/**
 * One group of rules, from what is looked at first to what is left at the end: protected, overrides, folders, tools, the rest, everything else.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { RuleList, RuleView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ActionChips, ActionTag } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import {
  isDefaultGroup,
  lastRule,
  type RuleSections,
  sectionsOf,
  verdictForRest,
  withAction,
} from "../store/rule_sections.ts";
import { orderAfterMove } from "../store/rule_order.ts";
import { policyStrings } from "../strings/policy.ts";
import { FolderPanel } from "./folder_panel.tsx";
import { Listed, PolicyHead } from "./policy.tsx";
import { RuleForm } from "./rule_form.tsx";
import { RuleRow } from "./rule_row.tsx";
import { ToolMatrix } from "./tool_matrix.tsx";

const words = policyStrings.rules;
const up = { to: { name: "policy", page: "rules" }, label: words.all } as const;

/** The screen. */
export function RuleGroup({ id }: { readonly id: string }) {
  const { policy } = useApp();
  useEffect(() => void Promise.all([policy.tools.load(), policy.lint.load(), policy.gate.load()]), [id]);
  return (
    <div class="screen policy">
      <Listed reading={policy.rules}>
        {(list) => {
          const group = list.groups.find((known) => known.id === id);
          if (!group) return <Empty icon="rules" title={words.gone} isScreen>{words.goneBody}</Empty>;
          const count = list.rules.filter((rule) => rule.groupId === id).length;
          return (
            <>
              <PolicyHead title={printableLine(group.name)} note={words.count(count)} up={up} />
              <Sections list={list} id={id} />
            </>
          );
        }}
      </Listed>
    </div>
  );
}

type Editing = { readonly rule?: RuleView } | undefined;

function Sections({ list, id }: { readonly list: RuleList; readonly id: string }) {
  const app = useApp();
  const editing = useSignal<Editing>(undefined);
  const sections = sectionsOf(list.rules, id);
  const edit = isOwner(app) ? (rule: RuleView) => editing.value = { rule } : undefined;
  const findings = new Map(
    app.policy.lint.value.value?.findings.map((finding) => [finding.ruleId, finding.message]),
  );
  const rows = (rules: readonly RuleView[], canEdit = true) => (
    <ul class="rule-list">
      {rules.map((rule, index) => (
        <RuleRow
          key={rule.id}
          rule={rule}
          moves={canEdit
            ? {
              up: orderAfterMove(list.rules, rule, rules[index - 1]),
              down: orderAfterMove(list.rules, rule, rules[index + 1]),
            }
            : {}}
          edit={canEdit ? edit : undefined}
          finding={findings.get(rule.id)}
        />
      ))}
    </ul>
  );
  return (
    <>
      {isDefaultGroup(id) && sections.protected.length > 0 && (
        <Section name="protected" count={sections.protected.length}>
          {rows(sections.protected, false)}
        </Section>
      )}
      {sections.overrides.length > 0 && (
        <Section name="overrides" count={sections.overrides.length} open>{rows(sections.overrides)}</Section>
      )}
      <FolderPanel groupId={id} rules={list.rules} folders={sections.folders} edit={edit} />
      <ToolMatrix groupId={id} rules={list.rules} set={sections.tools} edit={edit} />
      <Section name="rest" count={sections.rest.length} open>
        {rows(sections.rest)}
        {edit && (
          <button type="button" class="button small" onClick={() => editing.value = {}}>
            <Icon name="plus" /> {words.add}
          </button>
        )}
      </Section>
      <Last groupId={id} rules={list.rules} last={sections.last} />
      {editing.value && (
        <RuleForm
          groupId={id}
          rule={editing.value.rule}
          close={() => editing.value = undefined}
        />
      )}
    </>
  );
}

interface SectionProps {
  readonly name: "protected" | "overrides" | "rest";
  readonly count: number;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

function Section({ name, count, open = false, children }: SectionProps) {
  return (
    <details class="policy-section fold" open={open}>
      <summary>
        <h2>{words[name]}</h2>
        <span class="group-count">{words.count(count)}</span>
      </summary>
      <p class="hint">{words[`${name}Note`]}</p>
      {children}
    </details>
  );
}

interface LastProps {
  readonly groupId: string;
  readonly rules: readonly RuleView[];
  readonly last: RuleSections["last"];
}

/** What is left: the answer is the engine's, the chips are the rule that the group has for it. */
function Last({ groupId, rules, last }: LastProps) {
  const app = useApp();
  const { policy, now } = app;
  const key = `last/${groupId}`;
  const isBusy = useIsBusy(key);
  const verdict = verdictForRest(rules, groupId, now.peek());
  return (
    <section class="policy-section last-rule card" aria-labelledby="last">
      <div class="last-head">
        <h2 id="last">{words.last}</h2>
        <span>
          {words.gets} <ActionTag action={verdict.outcome} />
        </span>
      </div>
      <p class="hint">{last === undefined ? words.lastBehind : words.lastNote}</p>
      {isOwner(app) && (
        <ActionChips
          label={words.lastLabel}
          value={last?.action}
          canUnset
          disabled={isBusy}
          choose={(action) =>
            void policy.changes.run(key, () => {
              const { createRule, updateRule, deleteRule } = policy.commands;
              if (last === undefined) return createRule(lastRule(groupId, action ?? "ask"));
              return action === undefined
                ? deleteRule(last.id)
                : updateRule(last.id, withAction(last, action));
            })}
        />
      )}
      <ChangeNote of={key} />
    </section>
  );
}
