/**
 * Which profile a conversation has: a button in its head for the owner, and the form behind it. It counts from the next call and turn on.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConversationSummary, ProfileView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { Choice } from "../policy/choice.tsx";
import { policyStrings } from "../strings/policy.ts";

const words = policyStrings.profiles;

/** The button; nothing for whoever may not choose. */
export function ProfileButton({ row }: { readonly row: ConversationSummary }) {
  const app = useApp();
  const isOpen = useSignal(false);
  const mayChoose = isOwner(app);
  useEffect(() => {
    if (mayChoose) void app.policy.profiles.load();
  }, [mayChoose]);
  if (!mayChoose) return null;
  const profiles = app.policy.profiles.value.value?.profiles ?? [];
  const name = profiles.find(({ id }) => id === row.profile)?.name ?? row.profile;
  const label = words.chosen(printableLine(name));
  return (
    <>
      <button
        type="button"
        class="button quiet icon-button chat-profile"
        aria-label={label}
        title={label}
        onClick={() => isOpen.value = true}
      >
        <Icon name="profiles" />
      </button>
      {isOpen.value && <Form row={row} profiles={profiles} close={() => isOpen.value = false} />}
    </>
  );
}

interface FormProps {
  readonly row: ConversationSummary;
  readonly profiles: readonly ProfileView[];
  readonly close: () => void;
}

function Form({ row, profiles, close }: FormProps) {
  const { policy } = useApp();
  const key = `chat-profile/${row.id}`;
  const chosen = useSignal(row.profile);
  const isBusy = useIsBusy(key);
  const leave = () => {
    policy.changes.forget(key);
    close();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (chosen.value === row.profile) return leave();
    const send = () => policy.commands.chooseProfile(row.id, chosen.value);
    if (await policy.changes.run(key, send)) close();
  };
  return (
    <Dialog title={words.chooseTitle} close={leave}>
      <form class="dialog-form" onSubmit={(event) => void save(event)}>
        <Choice
          label={words.choose}
          value={chosen.value}
          options={profiles.map(({ id, name }) => [id, printableLine(name)])}
          choose={(id) => chosen.value = id}
        />
        <p class="hint">{words.chooseHint}</p>
        <ChangeNote of={key} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={leave}>{policyStrings.cancel}</button>
          <button type="submit" class="button primary" disabled={isBusy}>{words.save}</button>
        </div>
      </form>
    </Dialog>
  );
}
