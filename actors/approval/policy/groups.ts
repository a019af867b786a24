/**
 * Groups of rules: made empty or as a copy, renamed, deleted with their rules, restored. The default group stands behind
 * every other one and stays; a group that a profile uses is not deleted from under it.
 */
import { DEFAULT_GROUP } from "../../../lib/policy/rule_order.ts";
import type { PolicyCommand } from "../../protocol/approval.ts";
import { type Author, type Changed, missing, recordChange, UNREADABLE } from "./change_log.ts";
import type { Draft } from "../draft.ts";
import { bodyOf, insert } from "./rules.ts";

/** The commands on groups. */
export type GroupCommand = Extract<
  PolicyCommand["command"],
  { readonly kind: "group.create" | "group.update" | "group.delete" | "group.restore" }
>;

/** Carries out a command on groups, and records it. */
export function changeGroups(draft: Draft, command: GroupCommand, by: Author): Changed {
  switch (command.kind) {
    case "group.create":
      return create(draft, command, by);
    case "group.update":
      return rename(draft, command, by);
    case "group.delete":
      return remove(draft, command.id, by);
    case "group.restore":
      return restore(draft, command, by);
    default:
      return command satisfies never;
  }
}

function create(draft: Draft, command: Extract<GroupCommand, { kind: "group.create" }>, by: Author): Changed {
  const { name, description, copyOf } = command;
  const { groups, rules } = draft.state;
  if (copyOf !== undefined && !groups.includes(copyOf)) return missing(`There is no group "${copyOf}"`);
  if (!rules) return UNREADABLE;
  const id = draft.env.newId();
  add(draft, id, { name, description });
  for (const rule of rules.filter(({ layer, groupId }) => layer === "normal" && groupId === copyOf)) {
    const copy = { ...bodyOf(rule), groupId: id, layer: rule.layer, ordinal: rule.ordinal };
    insert(draft, { ...copy, id: draft.env.newId() }, by);
  }
  recordChange(draft, by, command.kind, { id, name, description, copyOf });
  return { ok: true, id };
}

function rename(draft: Draft, command: Extract<GroupCommand, { kind: "group.update" }>, by: Author): Changed {
  const { id, name, description } = command;
  if (!draft.state.groups.includes(id)) return missing("There is no such group");
  const after = { name, description };
  draft.op({ op: "group.update", id, ...after });
  recordChange(draft, by, command.kind, { id, before: draft.state.groupNames.get(id), after });
  draft.patch({ groupNames: new Map(draft.state.groupNames).set(id, after) });
  return { ok: true, id };
}

function remove(draft: Draft, id: string, by: Author): Changed {
  const { groups, profiles, rules } = draft.state;
  if (!groups.includes(id)) return missing("There is no such group");
  const user = Object.entries(profiles).find(([, profile]) => profile.groupId === id)?.[0];
  if (id === DEFAULT_GROUP || user !== undefined) {
    const why = id === DEFAULT_GROUP ? "The default group stays" : `The profile "${user}" uses this group`;
    return { ok: false, code: "bad_request", message: why };
  }
  if (!rules) return UNREADABLE;
  const lost = rules.filter((rule) => rule.groupId === id)
    .map((rule) => ({ id: rule.id, layer: rule.layer, ordinal: rule.ordinal, rule: bodyOf(rule) }));
  draft.op({ op: "group.delete", id });
  recordChange(draft, by, "group.delete", { id, ...draft.state.groupNames.get(id), rules: lost });
  draft.patch({
    groups: groups.filter((group) => group !== id),
    rules: rules.filter((rule) => rule.groupId !== id),
  });
  return { ok: true, id };
}

function restore(
  draft: Draft,
  command: Extract<GroupCommand, { kind: "group.restore" }>,
  by: Author,
): Changed {
  const { id, name, description, rules } = command;
  if (draft.state.groups.includes(id)) return { ok: false, code: "conflict", message: "The group is there" };
  if (!draft.state.rules) return UNREADABLE;
  add(draft, id, { name, description });
  for (const { rule, ...place } of rules) insert(draft, { ...rule, ...place, groupId: id }, by);
  recordChange(draft, by, command.kind, { id, name, description });
  return { ok: true, id };
}

function add(draft: Draft, id: string, named: { name: string; description?: string | undefined }): void {
  draft.op({ op: "group.create", id, ...named });
  draft.patch({
    groups: [...draft.state.groups, id],
    groupNames: new Map(draft.state.groupNames).set(id, named),
  });
}
