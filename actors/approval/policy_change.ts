/**
 * Changes of policy: rules and bypasses made by a decision or by a command, and what they mean for the items that already wait. Every change is
 * an entry of the decisions log. Only the owner changes policy; an approver may tighten it (end a bypass, suspend everything).
 */
import { ruleProblem } from "../../lib/policy/check_rule.ts";
import type { Bypass, Rule } from "../../lib/policy/rule.ts";
import type { Decider, DecisionBody, PolicyCommand, RuleBody } from "../protocol/approval.ts";
import type { Draft, PayloadIn } from "./draft.ts";
import { changeGroups } from "./groups.ts";
import { claimItem, identityOf } from "./items.ts";
import { judgeCall } from "./origin.ts";
import type { OpenItem } from "./state.ts";
import { setSuspended } from "./suspension.ts";
import { policyNotes } from "./texts.ts";

/** The longest that a bypass may hold, in milliseconds. */
const BYPASS_CAP_MS = 8 * 3_600_000;

/** How a change went. */
export type Changed = { readonly ok: true; readonly id: string } | {
  readonly ok: false;
  readonly code: "bad_request" | "not_found" | "forbidden" | "corrupt";
  readonly message: string;
};

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

function carryOut(draft: Draft, { by, command }: PolicyCommand): Changed {
  const tightens = command.kind === "bypass.revoke" || command.kind === "effects.suspend";
  if (by.role !== "owner" && !(tightens && by.role === "approver")) {
    return { ok: false, code: "forbidden", message: "Only the owner may change policy" };
  }
  switch (command.kind) {
    case "rule.create": {
      const added = addRule(draft, command.rule, by);
      if (added.ok) settleCovered(draft, by);
      return added;
    }
    case "rule.delete":
      return deleteRule(draft, command.id, by);
    case "bypass.revoke":
      return revokeBypass(draft, command.id, by);
    case "group.create":
    case "group.delete":
    case "profile.group": {
      const changed = changeGroups(draft, command, identityOf(by));
      if (!changed.ok) return changed;
      recordChange(draft, by, command.kind, { ...command, id: changed.id });
      settleCovered(draft, by);
      return changed;
    }
    case "effects.suspend":
    case "effects.resume":
      setSuspended(draft, command.kind === "effects.suspend", by);
      return { ok: true, id: "effects" };
    default:
      return command satisfies never;
  }
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

/** Adds a rule behind the others of its priority. */
export function addRule(draft: Draft, body: RuleBody, by: Decider): Changed {
  const { rules, groups } = draft.state;
  const problem = ruleProblem(body);
  if (problem) return { ok: false, code: "bad_request", message: problem };
  if (!groups.includes(body.groupId)) {
    return { ok: false, code: "not_found", message: `There is no group "${body.groupId}"` };
  }
  if (!rules) {
    return { ok: false, code: "corrupt", message: "The stored rules cannot be read; repair them first" };
  }
  const id = draft.env.newId();
  const ordinal = rules.reduce((highest, rule) => Math.max(highest, rule.ordinal), 0) + 1;
  const { note: _, ...matching } = body;
  const rule: Rule = { ...matching, id, layer: "normal", ordinal, uses: 0, since: draft.env.now };
  draft.op({ op: "rule.create", ...body, id, ordinal, createdBy: identityOf(by) });
  draft.patch({ rules: [...rules, rule] });
  recordChange(draft, by, "rule.create", { id, rule: body });
  return { ok: true, id };
}

function deleteRule(draft: Draft, id: string, by: Decider): Changed {
  const rule = draft.state.rules?.find((candidate) => candidate.id === id);
  if (!rule) return { ok: false, code: "not_found", message: "There is no such rule" };
  draft.op({ op: "rule.delete", id });
  draft.patch({ rules: draft.state.rules?.filter((candidate) => candidate.id !== id) ?? null });
  recordChange(draft, by, "rule.delete", { id, rule });
  return { ok: true, id };
}

function revokeBypass(draft: Draft, id: string, by: Decider): Changed {
  const bypass = draft.state.bypasses.find((candidate) => candidate.id === id);
  if (!bypass) return { ok: false, code: "not_found", message: "There is no such bypass, or it has ended" };
  endBypasses(draft, (candidate) => candidate.id === id, "revoked");
  recordChange(draft, by, "bypass.revoke", { id });
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
    const decision = verdict.outcome === "allow" ? "allow_once" : "reject_once";
    claimItem(draft, item, { decision, note: `Settled by ${verdict.by} ${verdict.ref}` }, by);
  }
}

function recordChange(
  draft: Draft,
  by: Decider,
  change: string,
  body: Readonly<Record<string, unknown>>,
): void {
  draft.record({
    kind: "policy",
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: change,
    body,
  });
}
