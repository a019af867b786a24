/**
 * Profiles: what answers in a conversation and by which rules. The owner chooses the group of rules.
 */
import type { ProfileView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Empty } from "../parts/feedback.tsx";
import { Link } from "../parts/link.tsx";
import { Age } from "../parts/times.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { policyStrings } from "../strings/policy.ts";
import { Listed, PolicyHead } from "./policy.tsx";
import { useEffect } from "preact/hooks";

const words = policyStrings.profiles;
const brains: Readonly<Record<string, string>> = words.brains;

/** The screen. */
export function Profiles() {
  const { policy } = useApp();
  useEffect(() => void policy.rules.load(), []);
  return (
    <div class="screen policy">
      <PolicyHead title={policyStrings.pages.profiles.title} note={policyStrings.pages.profiles.note} />
      <Listed reading={policy.profiles}>
        {({ profiles }) =>
          profiles.length === 0
            ? <Empty icon="profiles" title={words.none}>{policyStrings.pages.profiles.note}</Empty>
            : (
              <ul class="hub">
                {profiles.map((profile) => (
                  <li key={profile.id}>
                    <Profile profile={profile} />
                  </li>
                ))}
              </ul>
            )}
      </Listed>
    </div>
  );
}

function Profile({ profile }: { readonly profile: ProfileView }) {
  const app = useApp();
  const groups = app.policy.rules.value.value?.groups ?? [];
  const group = groups.find(({ id }) => id === profile.groupId);
  const id = `profile-${profile.id}`;
  return (
    <article class="card entry" aria-labelledby={id}>
      <div class="entry-head">
        <h2 id={id}>{printableLine(profile.name)}</h2>
        <span class="tag">{brains[profile.brain] ?? printableLine(profile.brain)}</span>
      </div>
      <dl class="settings-facts">
        <div>
          <dt>{words.model}</dt>
          <dd>{profile.model === null ? words.modelDefault : <code>{printableLine(profile.model)}</code>}</dd>
        </div>
        <div>
          <dt>{words.group}</dt>
          <dd>
            {isOwner(app) && groups.length > 1
              ? <GroupChoice profile={profile} groups={groups} />
              : (
                <Link to={{ name: "rule_group", id: profile.groupId }}>
                  {printableLine(group?.name ?? profile.groupId)}
                </Link>
              )}
          </dd>
        </div>
        <div>
          <dt>{words.updated}</dt>
          <dd>
            <Age at={profile.updatedAt} />
          </dd>
        </div>
      </dl>
      <ChangeNote of={`profile/${profile.id}`} />
    </article>
  );
}

interface GroupChoiceProps {
  readonly profile: ProfileView;
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

function GroupChoice({ profile, groups }: GroupChoiceProps) {
  const { policy } = useApp();
  const key = `profile/${profile.id}`;
  return (
    <select
      aria-label={words.groupLabel(printableLine(profile.name))}
      value={profile.groupId}
      aria-disabled={useIsBusy(key)}
      onChange={(event) => {
        const groupId = event.currentTarget.value;
        void policy.changes.run(key, () => policy.commands.setProfileGroup(profile.id, groupId));
      }}
    >
      {groups.map(({ id, name }) => <option key={id} value={id}>{printableLine(name)}</option>)}
    </select>
  );
}
