/**
 * Bypasses: one conversation skips questions for a while. Made by a decision, ended by time, by its session or by a person; each beginning and end is
 * an entry of the log. Proven by `policy_change_test.ts`.
 */
import type { Bypass } from "../../../lib/policy/rule.ts";
import type { BypassExpire, Decider, DecisionBody } from "../../protocol/approval.ts";
import { type Author, type Changed, FORBIDDEN_HERE, missing, recordChange } from "./change_log.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";
import { originOf } from "../judging/origin.ts";
import { mayAct } from "../deciding/rights.ts";
import type { OpenItem } from "../state.ts";

/** The longest that a bypass may hold, in milliseconds. */
const BYPASS_CAP_MS = 8 * 3_600_000;

/** Ends one before its time. */
export function revokeBypass(draft: Draft, id: string, by: Author): Changed {
  const bypass = draft.state.bypasses.find((candidate) => candidate.id === id);
  if (!bypass || bypass.expiresAt <= draft.env.now) {
    return missing("There is no such bypass, or it has ended");
  }
  if (by.role !== "owner" && !mayAct(draft.state, by, originOf(draft.state, bypass.conversation).channelId)) {
    return FORBIDDEN_HERE;
  }
  draft.op({ op: "bypass.end", id, reason: "revoked" });
  draft.patch({ bypasses: draft.state.bypasses.filter((other) => other.id !== id) });
  recordChange(draft, by, "bypass.revoke", { id, bypass });
  return { ok: true, id };
}

/** Ends the bypasses that `which` names, each with its entry in the log. */
export function endBypasses(draft: Draft, which: (bypass: Bypass) => boolean, reason: string): void {
  for (const bypass of draft.state.bypasses.filter(which)) {
    draft.op({ op: "bypass.end", id: bypass.id, reason });
    recordEnd(draft, bypass, reason);
  }
  draft.patch({ bypasses: draft.state.bypasses.filter((bypass) => !which(bypass)) });
}

/** Its time is over; or a new lease of the supervisor had ended it already, which nobody could write down then. */
export function onBypassExpire(draft: Draft, { id }: BypassExpire): void {
  endBypasses(draft, (bypass) => bypass.id === id, "expired");
  const lapsed = draft.state.lapsed.find((bypass) => bypass.id === id);
  if (lapsed) recordEnd(draft, lapsed, "restart");
}

function recordEnd(draft: Draft, bypass: Bypass, reason: string): void {
  draft.record({
    kind: "policy",
    conversation: bypass.conversation,
    actor: "system",
    surface: "system",
    decision: "bypass.end",
    body: { id: bypass.id, bypass, reason },
  });
}

/** A session's bypass for the call of an item: this exact tool, unless a wider scope was chosen that fits it. Gives its id. */
export function addBypass(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): string {
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
  draft.patch({ bypasses: [...draft.state.bypasses, bypass] });
  draft.tell("approval", "bypass.expire", { id: bypass.id }, { notBefore: bypass.expiresAt });
  recordChange(draft, by, "bypass.create", created);
  return bypass.id;
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
