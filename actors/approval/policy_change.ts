/**
 * Changes of policy: rules and bypasses made by a decision or by a command, and what they mean for the items that already wait. Every change is
 * an entry of the decisions log. Only the owner changes policy; an approver may tighten it (end a bypass, suspend everything).
 */
import type { Bypass } from "../../lib/policy/rule.ts";
import type { Decider, DecisionBody, PolicyCommand } from "../protocol/approval.ts";
import { type Author, type Changed, missing, recordChange } from "./change_log.ts";
import type { Draft, PayloadIn } from "./draft.ts";
import { changeGroups } from "./groups.ts";
import { claimItem, identityOf } from "./items.ts";
import { judgeCall } from "./origin.ts";
import { changeRules } from "./rules.ts";
import { changeSettings } from "./settings.ts";
import type { OpenItem } from "./state.ts";
import { setSuspended } from "./suspension.ts";
import { policyNotes } from "./texts.ts";
import { undo } from "./undo.ts";
import { countUse } from "./uses.ts";

/** The longest that a bypass may hold, in milliseconds. */
const BYPASS_CAP_MS = 8 * 3_600_000;

/** Answers a command of the rules page. */
export function onPolicy(draft: Draft, payload: PolicyCommand, from: string): void {
  const done = carryOut(draft, from === "zulip" ? linked(draft, payload) : payload);
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
      return settling(draft, by, changeRules(draft, command, author));
    case "group.create":
    case "group.update":
    case "group.delete":
    case "group.restore":
    case "profile.group":
      return settling(draft, by, changeGroups(draft, command, author));
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

/** What waits may be covered by now. */
function settling(draft: Draft, by: Decider, changed: Changed): Changed {
  if (changed.ok) settleCovered(draft, by);
  return changed;
}

/** A command from Zulip, in the name and with the role of the user who is linked to the account. */
function linked(draft: Draft, { by, command }: PolicyCommand): PolicyCommand {
  const { zulipUserId } = by;
  const user = draft.state.users.find((known) =>
    zulipUserId !== undefined && known.zulipUserId === zulipUserId
  );
  const role = user?.role ?? "viewer";
  return {
    command,
    by: { surface: "zulip", zulipUserId, name: user?.name ?? by.name, userId: user?.id, role },
  };
}

function revokeBypass(draft: Draft, id: string, by: Author): Changed {
  const bypass = draft.state.bypasses.find((candidate) => candidate.id === id);
  if (!bypass) return missing("There is no such bypass, or it has ended");
  endBypasses(draft, (candidate) => candidate.id === id, "revoked");
  recordChange(draft, by, "bypass.revoke", { id, bypass });
  return { ok: true, id };
}

/** Ends the bypasses that `which` names. */
export function endBypasses(draft: Draft, which: (bypass: Bypass) => boolean, reason: string): void {
  for (const bypass of draft.state.bypasses.filter(which)) {
    draft.op({ op: "bypass.end", id: bypass.id, reason });
  }
  draft.patch({ bypasses: draft.state.bypasses.filter((bypass) => !which(bypass)) });
}

/** A session's bypass for the call of an item: this exact tool, unless a wider scope was chosen that fits it. */
export function addBypass(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): undefined {
  const { scope, pattern } = scopeOf(item, body.scope);
  const bypass: Bypass = {
    id: draft.env.newId(),
    conversation: item.conversation,
    scope,
    pattern,
    uses: 0,
    expiresAt: draft.env.now + Math.min((body.seconds ?? Infinity) * 1000, BYPASS_CAP_MS),
    since: draft.env.now,
  };
  const { uses: _, since: __, ...created } = bypass;
  draft.op({ op: "bypass.create", ...created, grantedBy: identityOf(by), surface: by.surface });
  draft.patch({ bypasses: [...draft.state.bypasses.filter((old) => old.expiresAt > draft.env.now), bypass] });
  recordChange(draft, by, "bypass.create", created);
}

function scopeOf(item: OpenItem, wanted: DecisionBody["scope"]): Pick<Bypass, "scope" | "pattern"> {
  const source = item.described?.source ?? "";
  if (wanted === "all") return { scope: "all", pattern: null };
  if (wanted === "category" && item.described && source === "builtin") {
    return { scope: "category", pattern: item.described.class };
  }
  if (wanted === "mcp" && source.startsWith("mcp:")) {
    return { scope: "mcp", pattern: source.slice("mcp:".length) };
  }
  return { scope: "tool", pattern: item.tool ?? "" };
}

/** Decides every waiting call that policy by now allows or denies, in the name of whoever changed policy. */
export function settleCovered(draft: Draft, by: Decider): void {
  for (const item of draft.state.items.values()) {
    const { described, tool, conversation, origin } = item;
    if (item.kind !== "approval" || item.claimed || item.edit || !described || tool === undefined) continue;
    const verdict = judgeCall(draft, { tool, described, conversation, origin });
    if (verdict.outcome === "ask") continue;
    // Counted one by one: a rule for one use settles one item.
    countUse(draft, verdict);
    const decision = verdict.outcome === "allow" ? "allow_once" : "reject_once";
    claimItem(draft, item, { decision, note: `Settled by ${verdict.by} ${verdict.ref}` }, by);
  }
}
