/**
 * Folders and what agents may do in them: one row a rule, nothing of a rule lost when its answer changes. A rule that the panel has no word for is
 * shown as it is and opened in the form.
 */
import { useSignal } from "@preact/signals";
import type { RuleView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ActionTag } from "../parts/action_chips.tsx";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import {
  type FolderChoice,
  folderChoiceOf,
  folderChoices,
  folderRule,
  inputOf,
  verdictForFiles,
} from "../store/rule_sections.ts";
import { policyStrings } from "../strings/policy.ts";
import { RuleMatch } from "./rule_row.tsx";

const words = policyStrings.rules;
const choices: readonly FolderChoice[] = ["read", "write", "ask", "deny"];

interface FolderPanelProps {
  readonly groupId: string;
  readonly rules: readonly RuleView[];
  readonly folders: readonly RuleView[];
  readonly edit: ((rule: RuleView) => void) | undefined;
}

/** The panel. */
export function FolderPanel({ groupId, rules, folders, edit }: FolderPanelProps) {
  const app = useApp();
  const now = app.now.peek();
  const elsewhere = (access: "read" | "write") =>
    verdictForFiles(rules, { group: groupId, access, now }).outcome;
  return (
    <section class="policy-section" aria-labelledby="folders">
      <h2 id="folders">{words.folders}</h2>
      <p class="hint">{words.foldersNote}</p>
      {folders.length === 0 && <p class="hint">{words.foldersNone}</p>}
      <ul class="rule-list">
        {folders.map((rule) => <FolderRow key={rule.id} rule={rule} edit={edit} />)}
        <li class="folder-row">
          <span>{words.everywhere}</span>
          <span class="folder-rest">
            {policyStrings.try.accesses.read} <ActionTag action={elsewhere("read")} />{" "}
            {policyStrings.try.accesses.write} <ActionTag action={elsewhere("write")} />
          </span>
        </li>
      </ul>
      {isOwner(app) && <AddFolder groupId={groupId} />}
    </section>
  );
}

function FolderRow({ rule, edit }: { readonly rule: RuleView; readonly edit: FolderPanelProps["edit"] }) {
  const { policy } = useApp();
  const key = `rule/${rule.id}`;
  const isBusy = useIsBusy(key);
  const choice = folderChoiceOf(rule);
  const folder = printableLine(rule.pathPattern?.replace(/\/\*$/, "") ?? words.everywhere);
  const run = policy.changes.run;
  return (
    <li class="folder-row">
      {choice === undefined ? <RuleMatch rule={rule} /> : <code class="rule-tool">{folder}</code>}
      <span class="rule-buttons">
        {edit && choice !== undefined
          ? (
            <select
              aria-label={words.folderChoiceLabel(folder)}
              aria-disabled={isBusy}
              value={choice}
              onChange={(event) => {
                const next = choices.find((known) => known === event.currentTarget.value);
                if (next === undefined) return;
                const input = { ...inputOf(rule), ...folderChoices[next] };
                void run(key, () => policy.commands.updateRule(rule.id, input));
              }}
            >
              {choices.map((known) => <option key={known} value={known}>{words.folderChoices[known]}
              </option>)}
            </select>
          )
          : <ActionTag action={rule.action} />}
        {edit && (
          <>
            <button
              type="button"
              class="button quiet small"
              aria-label={words.editLabel(folder)}
              onClick={() => edit(rule)}
            >
              {words.edit}
            </button>
            <ConfirmButton
              label={policyStrings.delete}
              name={words.deleteLabel(folder)}
              confirm={policyStrings.delete}
              disabled={isBusy}
              onConfirm={() => void run(key, () => policy.commands.deleteRule(rule.id))}
            />
          </>
        )}
      </span>
      <ChangeNote of={key} />
    </li>
  );
}

function AddFolder({ groupId }: { readonly groupId: string }) {
  const { policy } = useApp();
  const folder = useSignal("");
  const choice = useSignal<FolderChoice>("read");
  const key = `folder/${groupId}`;
  const isBusy = useIsBusy(key);
  const rule = folderRule(groupId, folder.value, choice.value);
  const add = async (event: Event) => {
    event.preventDefault();
    if (rule && await policy.changes.run(key, () => policy.commands.createRule(rule))) folder.value = "";
  };
  return (
    <form class="add-folder" onSubmit={(event) => void add(event)}>
      <input
        type="text"
        class="mono"
        aria-label={words.folder}
        placeholder={words.folder}
        autocapitalize="off"
        spellcheck={false}
        value={folder.value}
        onInput={(event) => folder.value = event.currentTarget.value}
      />
      <select
        aria-label={words.folderChoiceLabel(printableLine(folder.value))}
        value={choice.value}
        onChange={(event) =>
          choice.value = choices.find((one) => one === event.currentTarget.value) ?? "read"}
      >
        {choices.map((known) => <option key={known} value={known}>{words.folderChoices[known]}</option>)}
      </select>
      <button type="submit" class="button" disabled={isBusy || rule === undefined}>{words.addFolder}</button>
      {folder.value.trim() !== "" && rule === undefined && <p class="field-problem">{words.badFolder}</p>}
      <ChangeNote of={key} />
    </form>
  );
}
