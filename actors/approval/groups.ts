/**
 * Groups of rules: made empty or as a copy, deleted with their rules, chosen for a profile. The default group stands behind every other one and stays;
 * a group that a profile uses is not deleted from under it.
 */
import { DEFAULT_GROUP } from "../../lib/policy/judge.ts";
import type { PolicyCommand } from "../protocol/approval.ts";
import type { Changed } from "./policy_change.ts";
import type { Draft } from "./draft.ts";

type GroupCommand = Extract<
  PolicyCommand["command"],
  { readonly kind: "group.create" | "group.delete" | "profile.group" }
>;

/** Carries out a command on groups; the caller records it. */
export function changeGroups(draft: Draft, command: GroupCommand, createdBy: string): Changed {
  switch (command.kind) {
    case "group.create":
      return create(draft, command, createdBy);
    case "group.delete":
      return remove(draft, command.id);
    case "profile.group":
      return choose(draft, command.profile, command.groupId);
    default:
      return command satisfies never;
  }
}

function create(
  draft: Draft,
  command: Extract<GroupCommand, { kind: "group.create" }>,
  createdBy: string,
): Changed {
  const { name, description, copyOf } = command;
  const { groups, rules } = draft.state;
  if (copyOf !== undefined && !groups.includes(copyOf)) return missing(`There is no group "${copyOf}"`);
  if (!rules) {
    return { ok: false, code: "corrupt", message: "The stored rules cannot be read; repair them first" };
  }
  const groupId = draft.env.newId();
  const copies = rules.filter((rule) => rule.layer === "normal" && rule.groupId === copyOf)
    .map((rule) => ({ ...rule, id: draft.env.newId(), groupId, uses: 0, since: draft.env.now }));
  draft.op({ op: "group.create", id: groupId, name, description });
  for (const { layer: _, uses: __, since: ___, ...copy } of copies) {
    draft.op({
      op: "rule.create",
      ...copy,
      argvPrefix: copy.argvPrefix && [...copy.argvPrefix],
      note: null,
      createdBy,
    });
  }
  draft.patch({ groups: [...groups, groupId], rules: [...rules, ...copies] });
  return { ok: true, id: groupId };
}

function remove(draft: Draft, id: string): Changed {
  const { groups, profiles, rules } = draft.state;
  if (!groups.includes(id)) return missing("There is no such group");
  const user = Object.entries(profiles).find(([, groupId]) => groupId === id)?.[0];
  if (id === DEFAULT_GROUP || user !== undefined) {
    const why = id === DEFAULT_GROUP ? "The default group stays" : `The profile "${user}" uses this group`;
    return { ok: false, code: "bad_request", message: why };
  }
  draft.op({ op: "group.delete", id });
  draft.patch({
    groups: groups.filter((group) => group !== id),
    rules: rules?.filter((rule) => rule.groupId !== id) ?? null,
  });
  return { ok: true, id };
}

function choose(draft: Draft, profile: string, groupId: string): Changed {
  const { groups, profiles } = draft.state;
  if (!Object.hasOwn(profiles, profile)) return missing(`There is no profile "${profile}"`);
  if (!groups.includes(groupId)) return missing(`There is no group "${groupId}"`);
  draft.op({ op: "profile.group", id: profile, groupId });
  draft.patch({ profiles: { ...profiles, [profile]: groupId } });
  return { ok: true, id: profile };
}

function missing(message: string): Changed {
  return { ok: false, code: "not_found", message };
}
