/**
 * Adding or changing a person: their name, role, Zulip account and channels. Proven by `tests/browser/people_test.ts`.
 */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { UserView } from "../../edge/api.ts";
import { printableLine } from "../../lib/printable.ts";
import { ChangeNote, useIsBusy } from "../parts/change_note.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useApp } from "../parts/use_app.ts";
import { Choice } from "../policy/choice.tsx";
import { strings } from "../strings.ts";
import { peopleStrings as words } from "../strings/people.ts";
import { knownChannels } from "./known_channels.ts";
import {
  type ChannelLine,
  type PersonDraft,
  personDraftOf,
  personOf,
  personProblem,
} from "./person_draft.ts";

const KEY = "person-form";
const roles = ["approver", "viewer", "owner"] as const;
const accesses = ["approve", "view"] as const;

interface PersonFormProps {
  /** Who is changed; somebody new when left out. */
  readonly user?: UserView | undefined;
  readonly close: () => void;
}

type OfDraft = { readonly draft: Signal<PersonDraft> };

/** The dialog. */
export function PersonForm({ user, close }: PersonFormProps) {
  const { policy } = useApp();
  const draft = useSignal(personDraftOf(user));
  const isBusy = useIsBusy(KEY);
  const problem = personProblem(draft.value);
  const set = (more: Partial<PersonDraft>) => {
    draft.value = { ...draft.value, ...more };
  };
  const leave = () => {
    policy.changes.forget(KEY);
    close();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const { commands, changes } = policy;
    const input = personOf(draft.value);
    const send = () => user ? commands.updateUser(user.id, input) : commands.createUser(input);
    if (await changes.run(KEY, send)) close();
  };
  return (
    <Dialog title={user ? words.editTitle(printableLine(user.name)) : words.addTitle} close={leave}>
      <form class="dialog-form" onSubmit={(event) => void save(event)}>
        <label class="field">
          <span>{words.name}</span>
          <input
            type="text"
            maxLength={100}
            required
            autoFocus
            value={draft.value.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </label>
        <Choice
          label={words.role}
          value={draft.value.role}
          options={roles.map((role) => [role, words.roles[role]])}
          choose={(value) => set({ role: roles.find((role) => role === value) ?? "viewer" })}
        />
        <p class="hint">{words.roleHint}</p>
        <label class="field">
          <span>{words.zulipField}</span>
          <input
            type="text"
            inputMode="numeric"
            aria-describedby="zulip-hint"
            value={draft.value.zulip}
            onInput={(event) => set({ zulip: event.currentTarget.value })}
          />
          <span class="hint" id="zulip-hint">{words.zulipHint}</span>
        </label>
        {draft.value.role !== "owner" && <Channels draft={draft} />}
        {problem !== undefined && <p class="field-problem" role="alert">{problem}</p>}
        <ChangeNote of={KEY} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={leave}>{strings.policy.cancel}</button>
          <button
            type="submit"
            class="button primary"
            disabled={isBusy || problem !== undefined || draft.value.name.trim() === ""}
          >
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** One line a channel; the numbers of channels in which something was said are offered with their names. */
function Channels({ draft }: OfDraft) {
  const add = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const { channels } = draft.value;
  const set = (lines: readonly ChannelLine[]) => {
    draft.value = { ...draft.value, channels: lines };
  };
  const extend = () => {
    set([...channels, { id: "", access: "approve" }]);
    requestAnimationFrame(() => list.current?.lastElementChild?.querySelector("input")?.focus());
  };
  const known = knownChannels(useApp());
  return (
    <div class="by-tool">
      <p class="field-label" id="person-channels">{words.channels}</p>
      <datalist id="known-channels">
        {[...known].map(([id, name]) => <option key={id} value={`${id}`}>{name}</option>)}
      </datalist>
      <ol ref={list} aria-labelledby="person-channels">
        {channels.map((line, index) => (
          <li key={index}>
            <Line
              line={line}
              change={(more) =>
                set(channels.map((other, at) => at === index ? { ...other, ...more } : other))}
            />
            <div class="by-tool-buttons">
              <button
                type="button"
                class="button quiet small"
                aria-label={words.removeChannelLabel(index + 1)}
                onClick={() => {
                  set(channels.filter((_, at) => at !== index));
                  add.current?.focus();
                }}
              >
                {words.removeChannel}
              </button>
            </div>
          </li>
        ))}
      </ol>
      <button ref={add} type="button" class="button small" disabled={channels.length >= 500} onClick={extend}>
        {words.addChannel}
      </button>
      <p class="hint">{words.channelsHint}</p>
    </div>
  );
}

interface LineProps {
  readonly line: ChannelLine;
  readonly change: (more: Partial<ChannelLine>) => void;
}

function Line({ line, change }: LineProps) {
  return (
    <div class="field-pair">
      <label class="field">
        <span>{words.channel}</span>
        <input
          type="text"
          inputMode="numeric"
          list="known-channels"
          value={line.id}
          onInput={(event) => change({ id: event.currentTarget.value })}
        />
      </label>
      <Choice
        label={words.access}
        value={line.access}
        options={accesses.map((access) => [access, words.accesses[access]])}
        choose={(value) => change({ access: value === "approve" ? "approve" : "view" })}
      />
    </div>
  );
}
