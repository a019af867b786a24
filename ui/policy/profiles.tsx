/**
 * Profiles: what answers in a conversation, with which words and by which rules. The owner makes, changes and deletes them.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ProfileView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Age } from "../parts/times.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { HostileText } from "../render/hostile_text.tsx";
import { policyStrings } from "../strings/policy.ts";
import { Listed, PolicyHead } from "./policy.tsx";
import { ProfileForm } from "./profile_form.tsx";

const words = policyStrings.profiles;
const brains: Readonly<Record<string, string>> = words.brains;

/** What the open form is for: a new profile, or one that is there. */
type Task = { readonly profile?: ProfileView };

/** The screen. */
export function Profiles() {
  const app = useApp();
  const { policy } = app;
  const task = useSignal<Task | undefined>(undefined);
  const mayChange = isOwner(app);
  useEffect(() => void policy.rules.load(), []);
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.profiles.title} note={policyStrings.pages.profiles.note}>
        {mayChange && (
          <button type="button" class="button primary small" onClick={() => task.value = {}}>
            <Icon name="plus" /> {words.create}
          </button>
        )}
      </PolicyHead>
      <Listed reading={policy.profiles}>
        {({ profiles }) =>
          profiles.length === 0
            ? <Empty icon="profiles" title={words.none}>{policyStrings.pages.profiles.note}</Empty>
            : (
              <ul class="hub">
                {profiles.map((profile) => (
                  <li key={profile.id}>
                    <Profile
                      profile={profile}
                      edit={mayChange ? () => task.value = { profile } : undefined}
                    />
                  </li>
                ))}
              </ul>
            )}
      </Listed>
      {task.value && <ProfileForm profile={task.value.profile} close={() => task.value = undefined} />}
    </div>
  );
}

interface ProfileProps {
  readonly profile: ProfileView;
  readonly edit: (() => void) | undefined;
}

function Profile({ profile, edit }: ProfileProps) {
  const name = printableLine(profile.name);
  const id = `profile-${profile.id}`;
  return (
    <article class="card entry" aria-labelledby={id}>
      <div class="entry-head">
        <h2 id={id}>{name}</h2>
        <span class="tag">{brains[profile.brain] ?? printableLine(profile.brain)}</span>
      </div>
      <Facts profile={profile} />
      {edit && (
        <div class="group-buttons">
          <button type="button" class="button quiet small" aria-label={words.editLabel(name)} onClick={edit}>
            {words.edit}
          </button>
          {profile.id === "default" || profile.isUsed
            ? <span class="hint">{profile.id === "default" ? words.isDefault : words.isUsed}</span>
            : <DeleteButton profile={profile} name={name} />}
        </div>
      )}
      <ChangeNote of={`profile/${profile.id}`} />
    </article>
  );
}

function DeleteButton({ profile, name }: { readonly profile: ProfileView; readonly name: string }) {
  const { policy } = useApp();
  const key = `profile/${profile.id}`;
  return (
    <ConfirmButton
      label={policyStrings.delete}
      name={words.deleteLabel(name)}
      confirm={words.deleteConfirm}
      disabled={useIsBusy(key)}
      onConfirm={() => void policy.changes.run(key, () => policy.commands.deleteProfile(profile.id))}
    />
  );
}

function Facts({ profile }: { readonly profile: ProfileView }) {
  const groups = useApp().policy.rules.value.value?.groups ?? [];
  const group = groups.find(({ id }) => id === profile.groupId);
  return (
    <dl class="settings-facts">
      <div>
        <dt>{words.group}</dt>
        <dd>
          <Link to={{ name: "rule_group", id: profile.groupId }}>
            {printableLine(group?.name ?? profile.groupId)}
          </Link>
        </dd>
      </div>
      <div>
        <dt>{words.model}</dt>
        <dd>{profile.model === null ? words.modelDefault : <code>{printableLine(profile.model)}</code>}</dd>
      </div>
      <Lines label={words.writePaths} lines={profile.writePaths} />
      <Lines label={words.excludedTools} lines={profile.excludedTools} />
      {profile.instructions !== "" && (
        <div>
          <dt>{words.instructions}</dt>
          <dd>
            <HostileText text={profile.instructions} />
          </dd>
        </div>
      )}
      <div>
        <dt>{words.updated}</dt>
        <dd>
          <Age at={profile.updatedAt} />
        </dd>
      </div>
    </dl>
  );
}

function Lines({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {lines.map((line) => <code key={line} class="word">{printableLine(line)}</code>)}
      </dd>
    </div>
  );
}
