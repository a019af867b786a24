/**
 * Commands that change policy. Every change is an entry of the decisions log, and settles what waits and is now covered. Only the owner changes
 * policy; an approver may tighten it (end a bypass, take back an allowance, suspend everything).
 */
import type { Decider, PolicyCommand } from "../../protocol/approval.ts";
import { revokeBypass } from "./bypasses.ts";
import type { Author, Changed } from "./change_log.ts";
import type { Draft, PayloadIn } from "../draft.ts";
import { changeGroups } from "./groups.ts";
import { roleOf } from "../deciding/rights.ts";
import { changeProfiles } from "./profiles.ts";
import { changeRules } from "./rules.ts";
import { changeSettings } from "./settings.ts";
import { settleCovered } from "./settle_covered.ts";
import { setSuspended } from "../deciding/suspension.ts";
import { policyNotes } from "../texts.ts";
import { undo } from "../deciding/undo.ts";

/** Answers a command of the rules page. */
export function onPolicy(draft: Draft, payload: PolicyCommand, from: string): void {
  const done = carryOut(draft, asKnown(draft, payload, from));
  if (from === "zulip" && payload.tell !== undefined) {
    tellTopic(draft, payload.tell, payload.command.kind, done);
  }
  if (from !== "edge") return;
  const answer: PayloadIn<"policy.done"> = done.ok
    ? { ok: true, id: done.id }
    : { ok: false, code: done.code, message: done.message };
  draft.tell("edge", "policy.done", answer);
}

function tellTopic(draft: Draft, conversation: string, kind: string, done: Changed): void {
  const text = done.ok
    ? policyNotes[kind === "effects.suspend" ? "suspended" : "resumed"]
    : policyNotes.refused;
  const key = `policy/${kind}/${draft.env.newId()}`;
  draft.tell("zulip", "topic.note", { conversation, key, text });
}

function carryOut(draft: Draft, { by, command, reverts }: PolicyCommand): Changed {
  const tightens = ["bypass.revoke", "effects.suspend", "item.undo"].includes(command.kind);
  if (by.role !== "owner" && !(tightens && by.role === "approver")) {
    return { ok: false, code: "forbidden", message: "Only the owner may change policy" };
  }
  const author: Author = { ...by, reverts };
  switch (command.kind) {
    case "rule.create":
    case "rule.update":
    case "rule.order":
    case "rule.delete":
    case "rule.restore":
      return settling(draft, by, changeRules(draft, command, author), rulesOf(draft, command));
    case "group.create":
    case "group.update":
    case "group.delete":
    case "group.restore":
      return settling(draft, by, changeGroups(draft, command, author), rulesOf(draft, command));
    case "profile.create":
    case "profile.update":
    case "profile.group":
    case "profile.delete":
    case "profile.restore":
    case "conversation.profile":
      return settling(draft, by, changeProfiles(draft, command, author), rulesOf(draft, command));
    case "item.undo":
      return undo(draft, command.itemId, author);
    case "gate.settings":
      return settling(draft, by, changeSettings(draft, command.settings, author));
    case "bypass.revoke":
      return revokeBypass(draft, command.id, author);
    case "effects.suspend":
    case "effects.resume":
      setSuspended(draft, command.kind === "effects.suspend", by);
      return { ok: true, id: "effects" };
    default:
      return command satisfies never;
  }
}

/** What waits may be covered by now: by the rules that were changed, or by a denial. */
function settling(draft: Draft, by: Decider, changed: Changed, rules: readonly string[] = []): Changed {
  if (changed.ok) settleCovered(draft, by, [changed.id, ...rules]);
  return changed;
}

/** The rules that a command brings into force beside the one by whose id it is answered. */
function rulesOf(draft: Draft, command: PolicyCommand["command"]): readonly string[] {
  switch (command.kind) {
    case "rule.order":
      return command.ids;
    case "group.restore":
      return command.rules.map((rule) => rule.id);
    case "profile.group":
      return rulesIn(draft, command.groupId);
    case "profile.update":
      return rulesIn(draft, command.changes.groupId);
    default:
      return [];
  }
}

function rulesIn({ state }: Draft, groupId: string | undefined): readonly string[] {
  return state.rules?.filter((rule) => rule.groupId === groupId).map((rule) => rule.id) ?? [];
}

/** In the name and with the role of whom approval knows; nobody's claim about themselves counts. The supervisor is the machine's own. */
function asKnown(draft: Draft, command: PolicyCommand, from: string): PolicyCommand {
  if (from === "zulip") return linked(draft, command);
  if (from !== "edge") return command;
  return { ...command, by: { ...command.by, role: roleOf(draft.state, command.by) } };
}

/**
 * A command from Zulip, in the name and with the role of the user who is linked to the account. Nothing but the stop-everything switch is within
 * reach from there, whatever that user may do elsewhere.
 */
function linked(draft: Draft, { by, command }: PolicyCommand): PolicyCommand {
  const { zulipUserId } = by;
  const user = draft.state.users.find((known) =>
    zulipUserId !== undefined && known.zulipUserId === zulipUserId
  );
  const isSwitch = command.kind === "effects.suspend" || command.kind === "effects.resume";
  const role = isSwitch && user ? user.role : "viewer";
  return {
    command,
    by: { surface: "zulip", zulipUserId, name: user?.name ?? by.name, userId: user?.id, role },
  };
}
