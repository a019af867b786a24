/**
 * Writing a profile: every field takes effect, and the engine's own word says whether it may be saved.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { ProfileView } from "../../edge/api.ts";
import { profileProblem } from "../../lib/policy/profile.ts";
import type { ProfileBody } from "../../lib/profile.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";
import { wordsOf } from "./rule_draft.ts";

const words = policyStrings.profiles;
const KEY = "profile-form";

interface ProfileFormProps {
  /** The profile that is changed; a new one when left out. */
  readonly profile?: ProfileView | undefined;
  readonly close: () => void;
}

/** The dialog. */
export function ProfileForm({ profile, close }: ProfileFormProps) {
  const { policy } = useApp();
  const draft = useSignal(draftOf(profile));
  const isBusy = useIsBusy(KEY);
  const groups = policy.rules.value.value?.groups ?? [];
  const input = inputOf(draft.value);
  const problem = profileProblem(input);
  const leave = () => {
    policy.changes.forget(KEY);
    close();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const { commands, changes } = policy;
    const send = () => profile ? commands.updateProfile(profile.id, input) : commands.createProfile(input);
    if (await changes.run(KEY, send)) close();
  };
  return (
    <Dialog title={profile ? words.editTitle(printableLine(profile.name)) : words.create} close={leave}>
      <form class="dialog-form" onSubmit={(event) => void save(event)}>
        <Field draft={draft} of="name" label={words.name} max={100} />
        <label class="field">
          <span>{words.group}</span>
          <select
            value={draft.value.groupId}
            onChange={(event) => draft.value = { ...draft.value, groupId: event.currentTarget.value }}
          >
            {groups.map(({ id, name }) => <option key={id} value={id}>{printableLine(name)}</option>)}
          </select>
        </label>
        <Field draft={draft} of="model" label={words.model} hint={words.modelHint} max={200} mono />
        <Field
          draft={draft}
          of="instructions"
          label={words.instructions}
          hint={words.instructionsHint}
          max={8_000}
          lines
        />
        <Field
          draft={draft}
          of="writePaths"
          label={words.writePaths}
          hint={words.writePathsHint}
          mono
          lines
        />
        <Field
          draft={draft}
          of="excludedTools"
          label={words.excludedTools}
          hint={words.excludedToolsHint}
          mono
          lines
        />
        {problem !== undefined && <p class="field-problem" role="alert">{problem}</p>}
        <ChangeNote of={KEY} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={leave}>{policyStrings.cancel}</button>
          <button
            type="submit"
            class="button primary"
            disabled={isBusy || problem !== undefined || input.name === ""}
          >
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface Draft {
  readonly name: string;
  readonly groupId: string;
  readonly model: string;
  readonly instructions: string;
  /** One a line. */
  readonly writePaths: string;
  readonly excludedTools: string;
}

function draftOf(profile: ProfileView | undefined): Draft {
  return {
    name: profile?.name ?? "",
    groupId: profile?.groupId ?? "default",
    model: profile?.model ?? "",
    instructions: profile?.instructions ?? "",
    writePaths: profile?.writePaths.join("\n") ?? "",
    excludedTools: profile?.excludedTools.join("\n") ?? "",
  };
}

function inputOf(draft: Draft): ProfileBody {
  const model = draft.model.trim();
  return {
    name: draft.name.trim(),
    groupId: draft.groupId,
    model: model === "" ? null : model,
    instructions: draft.instructions.trim(),
    writePaths: wordsOf(draft.writePaths),
    excludedTools: wordsOf(draft.excludedTools),
  };
}

interface FieldProps {
  readonly draft: Signal<Draft>;
  readonly of: keyof Draft;
  readonly label: string;
  readonly hint?: string;
  readonly max?: number;
  readonly mono?: boolean;
  readonly lines?: boolean;
}

function Field({ draft, of, label, hint, max, mono = false, lines = false }: FieldProps) {
  const shared = {
    class: mono ? "mono" : undefined,
    value: draft.value[of],
    maxLength: max,
    spellcheck: !mono,
    "aria-describedby": hint === undefined ? undefined : `profile-hint-${of}`,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
      draft.value = { ...draft.value, [of]: event.currentTarget.value };
    },
  };
  return (
    <label class="field">
      <span>{label}</span>
      {lines
        ? <textarea rows={Math.min(8, draft.value[of].split("\n").length + 1)} {...shared} />
        : <input type="text" required={of === "name"} autocapitalize="off" {...shared} />}
      {hint !== undefined && <span class="hint" id={`profile-hint-${of}`}>{hint}</span>}
    </label>
  );
}
