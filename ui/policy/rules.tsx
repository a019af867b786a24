/**
 * Groups of rules, and what lint found in all of them. A group is opened to see its rules; the owner makes, copies, renames and deletes groups.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { GroupView, LintFinding, RuleView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { isDefaultGroup } from "../store/rule_sections.ts";
import { policyStrings } from "../strings/policy.ts";
import { GroupForm, type GroupTask } from "./group_form.tsx";
import { Listed, PolicyHead } from "./policy.tsx";
import { RuleMatch } from "./rule_row.tsx";

const words = policyStrings.rules;

/** The screen. */
export function Rules() {
  const app = useApp();
  const { policy } = app;
  const task = useSignal<GroupTask | undefined>(undefined);
  const mayChange = isOwner(app);
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.rules.title} note={policyStrings.pages.rules.note}>
        {mayChange && (
          <button
            type="button"
            class="button primary small"
            onClick={() => task.value = { kind: "create" }}
          >
            <Icon name="plus" /> {words.create}
          </button>
        )}
      </PolicyHead>
      <Listed reading={policy.groups}>
        {({ groups }) => (
          <ul class="hub">
            {groups.map((group) => (
              <li key={group.id}>
                <Group group={group} ask={mayChange ? (next) => task.value = next : undefined} />
              </li>
            ))}
          </ul>
        )}
      </Listed>
      <Lint />
      {task.value && <GroupForm task={task.value} close={() => task.value = undefined} />}
    </div>
  );
}

interface GroupProps {
  readonly group: GroupView;
  readonly ask: ((task: GroupTask) => void) | undefined;
}

function Group({ group, ask }: GroupProps) {
  const { policy } = useApp();
  const key = `group/${group.id}`;
  const isBusy = useIsBusy(key);
  return (
    <article class="card group">
      <Link to={{ name: "rule_group", id: group.id }} class="group-link">
        <strong>{printableLine(group.name)}</strong>
        {isDefaultGroup(group.id) && <span class="tag">{words.isDefault}</span>}
        <span class="group-count">{words.count(group.rules)}</span>
        <Icon name="next" />
      </Link>
      {group.description !== undefined && <p class="hint">{printableLine(group.description)}</p>}
      {group.profiles.length > 0 && (
        <p class="hint">{words.profiles(group.profiles.map(printableLine).join(", "))}</p>
      )}
      {ask && (
        <div class="group-buttons">
          <button type="button" class="button quiet small" onClick={() => ask({ kind: "duplicate", group })}>
            {words.duplicate}
          </button>
          <button type="button" class="button quiet small" onClick={() => ask({ kind: "rename", group })}>
            {words.rename}
          </button>
          {!isDefaultGroup(group.id) && group.profiles.length === 0 && (
            <ConfirmButton
              label={policyStrings.delete}
              confirm={words.deleteGroup(group.rules)}
              disabled={isBusy}
              onConfirm={() => void policy.changes.run(key, () => policy.commands.deleteGroup(group.id))}
            />
          )}
        </div>
      )}
      <ChangeNote of={key} />
    </article>
  );
}

function Lint() {
  const { policy } = useApp();
  useEffect(() => void Promise.all([policy.lint.load(), policy.rules.load()]), []);
  const findings = policy.lint.value.value?.findings;
  const rules = policy.rules.value.value?.rules;
  if (findings === undefined || rules === undefined) return null;
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return (
    <section class="policy-section" aria-labelledby="lint">
      <h2 id="lint">{words.lint}</h2>
      {findings.length === 0 ? <p class="hint">{words.lintNone}</p> : (
        <ul class="findings">
          {findings.map((finding, index) => (
            <Finding key={index} finding={finding} rule={byId.get(finding.ruleId)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Finding({ finding, rule }: { readonly finding: LintFinding; readonly rule: RuleView | undefined }) {
  return (
    <li class="finding">
      <span class="tag tag-waiting">{words.lintKinds[finding.kind]}</span>
      <span class="finding-text">
        {rule && (
          <Link to={{ name: "rule_group", id: rule.groupId }}>
            <RuleMatch rule={rule} />
          </Link>
        )}
        <span class="hint">{printableLine(finding.message)}</span>
      </span>
    </li>
  );
}
