/**
 * Naming a group: a new one, a copy, or another name for one that is there.
 */
import { useSignal } from "@preact/signals";
import type { GroupInput, GroupView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";

const words = policyStrings.rules;
const KEY = "group-form";

/** What the form is for. */
export type GroupTask =
  | { readonly kind: "create" }
  | { readonly kind: "duplicate" | "rename"; readonly group: GroupView };

/** The dialog. */
export function GroupForm({ task, close }: { readonly task: GroupTask; readonly close: () => void }) {
  const { policy } = useApp();
  const name = useSignal(firstName(task));
  const description = useSignal(task.kind === "create" ? "" : task.group.description ?? "");
  const isBusy = useIsBusy(KEY);
  const leave = () => {
    policy.changes.forget(KEY);
    close();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const text = description.value.trim();
    const group = { name: name.value.trim(), ...(text === "" ? {} : { description: text }) };
    if (await policy.changes.run(KEY, () => send(group))) close();
  };
  const send = (group: GroupInput) => {
    if (task.kind === "create") return policy.commands.createGroup(group);
    if (task.kind === "rename") return policy.commands.updateGroup(task.group.id, group);
    return policy.commands.duplicateGroup(task.group.id, group);
  };
  return (
    <Dialog title={titleOf(task)} close={leave}>
      <form class="dialog-form" onSubmit={(event) => void save(event)}>
        <label class="field">
          <span>{words.name}</span>
          <input
            type="text"
            required
            maxLength={100}
            value={name.value}
            onInput={(event) => name.value = event.currentTarget.value}
          />
        </label>
        <label class="field">
          <span>{words.description}</span>
          <input
            type="text"
            maxLength={1000}
            value={description.value}
            onInput={(event) => description.value = event.currentTarget.value}
          />
        </label>
        <ChangeNote of={KEY} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={leave}>{policyStrings.cancel}</button>
          <button type="submit" class="button primary" disabled={isBusy || name.value.trim() === ""}>
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function firstName(task: GroupTask): string {
  if (task.kind === "create") return "";
  return task.kind === "rename" ? task.group.name : words.copyOf(task.group.name);
}

function titleOf(task: GroupTask): string {
  if (task.kind === "create") return words.create;
  const name = printableLine(task.group.name);
  return task.kind === "rename" ? words.renameTitle(name) : words.duplicateTitle(name, task.group.rules);
}
