/**
 * Profiles: made, changed, deleted, restored, and chosen for a conversation. The default one stays behind every conversation for which nobody
 * chose another, and one that a conversation uses is not deleted from under it. A call that waits is judged by the profile under which it was
 * proposed. Proven by `profiles_test.ts`.
 */
import { DEFAULT_PROFILE, profileProblem } from "../../../lib/policy/profile.ts";
import type { ProfileBody } from "../../../lib/profile.ts";
import type { PolicyCommand } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { type Author, type Changed, missing, recordChange } from "./change_log.ts";

/** The commands on profiles. */
export type ProfileCommand = Extract<
  PolicyCommand["command"],
  {
    readonly kind:
      | "profile.create"
      | "profile.update"
      | "profile.group"
      | "profile.delete"
      | "profile.restore"
      | "conversation.profile";
  }
>;

/** Carries out a command on profiles, and records it. */
export function changeProfiles(draft: Draft, command: ProfileCommand, by: Author): Changed {
  switch (command.kind) {
    case "profile.create":
      return create(draft, draft.env.newId(), command, by);
    case "profile.restore":
      if (find(draft, command.id)) return { ok: false, code: "conflict", message: "The profile is there" };
      return create(draft, command.id, command, by);
    case "profile.update":
      return update(draft, command, by);
    case "profile.group":
      return chooseGroup(draft, command, by);
    case "profile.delete":
      return remove(draft, command.id, by);
    case "conversation.profile":
      return choose(draft, command, by);
    default:
      return command satisfies never;
  }
}

type Made = Extract<ProfileCommand, { kind: "profile.create" | "profile.restore" }>;

function create(draft: Draft, id: string, { kind, profile }: Made, by: Author): Changed {
  const refusal = unfit(draft, profile);
  if (refusal) return refusal;
  put(draft, id, profile);
  recordChange(draft, by, kind, { id, profile });
  return { ok: true, id };
}

function update(
  draft: Draft,
  command: Extract<ProfileCommand, { kind: "profile.update" }>,
  by: Author,
): Changed {
  const { id, changes } = command;
  const before = find(draft, id);
  if (!before) return missing(`There is no profile "${id}"`);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const after: ProfileBody = { ...before, ...given };
  const refusal = unfit(draft, after);
  if (refusal) return refusal;
  put(draft, id, after);
  recordChange(draft, by, command.kind, { id, before, after });
  return { ok: true, id };
}

function chooseGroup(
  draft: Draft,
  command: Extract<ProfileCommand, { kind: "profile.group" }>,
  by: Author,
): Changed {
  const { profile: id, groupId } = command;
  const before = find(draft, id);
  if (!before) return missing(`There is no profile "${id}"`);
  const after = { ...before, groupId };
  const refusal = unfit(draft, after);
  if (refusal) return refusal;
  put(draft, id, after);
  recordChange(draft, by, command.kind, { profile: id, before: before.groupId, after: groupId });
  return { ok: true, id };
}

function remove(draft: Draft, id: string, by: Author): Changed {
  const profile = find(draft, id);
  if (!profile) return missing(`There is no profile "${id}"`);
  if (id === DEFAULT_PROFILE || isUsed(draft, id)) {
    const message = id === DEFAULT_PROFILE ? "The default profile stays" : "A conversation uses this profile";
    return { ok: false, code: "bad_request", message };
  }
  const { [id]: _, ...profiles } = draft.state.profiles;
  draft.op({ op: "profile.delete", id });
  recordChange(draft, by, "profile.delete", { id, profile });
  draft.patch({ profiles });
  return { ok: true, id };
}

function choose(
  draft: Draft,
  command: Extract<ProfileCommand, { kind: "conversation.profile" }>,
  by: Author,
): Changed {
  const { conversation, profile, standing } = command;
  if (!find(draft, profile)) return missing(`There is no profile "${profile}"`);
  const known = draft.state.conversations.get(conversation) ?? standing;
  draft.op({ op: "conversation.profile", id: conversation, profile });
  recordChange(draft, by, command.kind, {
    id: conversation,
    before: known.profile,
    after: profile,
    standing: { ...known, profile },
  });
  draft.patch({
    conversations: new Map(draft.state.conversations).set(conversation, { ...known, profile }),
  });
  return { ok: true, id: conversation };
}

/** Why a profile cannot be written like this. */
function unfit(draft: Draft, profile: ProfileBody): Changed | undefined {
  if (!draft.state.groups.includes(profile.groupId)) return missing(`There is no group "${profile.groupId}"`);
  const problem = profileProblem(profile);
  return problem === undefined ? undefined : { ok: false, code: "bad_request", message: problem };
}

function put(draft: Draft, id: string, profile: ProfileBody): void {
  draft.op({ op: "profile.put", id, profile });
  draft.patch({ profiles: { ...draft.state.profiles, [id]: profile } });
}

function find({ state }: Draft, id: string): ProfileBody | undefined {
  return Object.hasOwn(state.profiles, id) ? state.profiles[id] : undefined;
}

/** Another profile than the default one is only ever chosen here, so no conversation that uses it is unknown. */
function isUsed({ state }: Draft, id: string): boolean {
  return state.olderProfiles.includes(id) ||
    [...state.conversations.values()].some((conversation) => conversation.profile === id);
}
