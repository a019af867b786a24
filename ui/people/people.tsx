/**
 * Everybody who may sign in: role, channels and Zulip account. The owner adds, changes, links and removes them, and makes sign-in links for them.
 * Proven by `tests/browser/people_test.ts`.
 */
import { useSignal } from "@preact/signals";
import type { DeviceLink, UserView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { ConfirmButton } from "../parts/confirm_button.tsx";
import { Icon } from "../parts/icons.tsx";
import { SignInLink } from "../parts/sign_in_link.tsx";
import { isOwner, useApp } from "../parts/use_app.ts";
import { Listed, PolicyHead } from "../policy/policy.tsx";
import { clockOf } from "../render/time.ts";
import { strings } from "../strings.ts";
import { peopleStrings as words } from "../strings/people.ts";
import { knownChannels } from "./known_channels.ts";
import { PersonForm } from "./person_form.tsx";

/** What the open form is for: somebody new, or somebody who is there. */
type Task = { readonly user?: UserView };

/** The screen. */
export function People() {
  const app = useApp();
  const task = useSignal<Task | undefined>(undefined);
  const up = { to: { name: "settings" }, label: words.back } as const;
  if (!isOwner(app)) {
    return (
      <div class="screen policy">
        <PolicyHead title={words.title} up={up} />
        <p class="hint">{strings.policy.ownerOnly}</p>
      </div>
    );
  }
  return (
    <div class="screen policy people">
      <PolicyHead title={words.title} note={words.note} up={up}>
        <button type="button" class="button primary small" onClick={() => task.value = {}}>
          <Icon name="plus" /> {words.add}
        </button>
      </PolicyHead>
      <Listed reading={app.policy.people}>
        {({ users }) => (
          <ul class="hub">
            {users.map((user) => (
              <li key={user.id}>
                <Person user={user} edit={() => task.value = { user }} />
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {task.value && <PersonForm user={task.value.user} close={() => task.value = undefined} />}
    </div>
  );
}

function Person({ user, edit }: { readonly user: UserView; readonly edit: () => void }) {
  const { policy, session } = useApp();
  const link = useSignal<DeviceLink | undefined>(undefined);
  const name = printableLine(user.name);
  const key = `user/${user.id}`;
  const isBusy = useIsBusy(key);
  const { changes, commands } = policy;
  const makeLink = () =>
    changes.run(key, async () => {
      link.value = await commands.linkUser(user.id);
      return { command: "", settled: true };
    });
  const { id: _, ...unlinked } = { ...user, zulipUserId: null };
  return (
    <article class="card entry" aria-labelledby={key}>
      <div class="entry-head">
        <h2 id={key}>{name}</h2>
        <span class="entry-what">
          {session.me.value?.user.id === user.id && <span class="tag">{words.you}</span>}
          <span class="tag">{words.roles[user.role]}</span>
        </span>
      </div>
      <Facts user={user} />
      <div class="group-buttons">
        <button type="button" class="button quiet small" aria-label={words.editLabel(name)} onClick={edit}>
          {words.edit}
        </button>
        <button
          type="button"
          class="button quiet small"
          aria-label={words.linkFor(name)}
          disabled={isBusy}
          onClick={() => void makeLink()}
        >
          {words.link}
        </button>
        {user.zulipUserId !== null && (
          <ConfirmButton
            label={words.unlink}
            name={words.unlinkLabel(name)}
            confirm={words.unlinkConfirm}
            disabled={isBusy}
            onConfirm={() => void changes.run(key, () => commands.updateUser(user.id, unlinked))}
          />
        )}
        <ConfirmButton
          label={words.remove}
          name={words.removeLabel(name)}
          confirm={words.removeConfirm}
          disabled={isBusy}
          onConfirm={() => void changes.run(key, () => commands.removeUser(user.id))}
        />
      </div>
      {link.value && (
        <SignInLink url={link.value.url} hint={words.linkHint(name, clockOf(link.value.expiresAt))} isNew />
      )}
      <ChangeNote of={key} />
    </article>
  );
}

function Facts({ user }: { readonly user: UserView }) {
  const known = knownChannels(useApp());
  const channels = user.role === "owner"
    ? words.channelsAll
    : user.channels.map(({ id, access }) =>
      `${words.channelName(id, known.get(id))} (${words.accesses[access]})`
    ).join(", ");
  return (
    <dl class="settings-facts">
      <div>
        <dt>{words.zulip}</dt>
        <dd>{user.zulipUserId === null ? words.zulipNone : words.zulipId(user.zulipUserId)}</dd>
      </div>
      <div>
        <dt>{words.channels}</dt>
        <dd class="word">{channels === "" ? words.channelsNone : channels}</dd>
      </div>
    </dl>
  );
}
