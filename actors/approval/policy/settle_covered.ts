/**
 * What a change of policy means for calls that already wait: those that the very thing that changed now allows, and those that policy now denies,
 * are settled by it. Nothing else is let go: a call that waits for another reason (a brake, an expired rule, another conversation's session)
 * goes on waiting, whoever changed what. The log names what settled it. Proven by `settle_test.ts`.
 */
import type { Decider, SettledBy } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { claimItem } from "../items/items.ts";
import { judgeCall } from "../judging/origin.ts";
import { countUse } from "../judging/uses.ts";

/** Settles every waiting call that one of `made` (ids of rules or bypasses) now allows, or that policy now denies. `by` changed policy. */
export function settleCovered(draft: Draft, by: Decider, made: readonly string[]): void {
  for (const item of draft.state.items.values()) {
    const { described, tool, conversation, origin } = item;
    if (item.kind !== "approval" || item.claimed || item.edit || !described || tool === undefined) continue;
    const verdict = judgeCall(draft, { tool, described, conversation, origin });
    if (verdict.outcome === "ask" || verdict.by === "fast_path") continue;
    if (verdict.outcome === "allow" && (item.braked || !made.includes(verdict.ref))) continue;
    // Counted one by one: a rule for one use settles one item.
    countUse(draft, verdict);
    const settled: SettledBy = { by: verdict.by, ref: verdict.ref };
    const decision = verdict.outcome === "allow" ? "allow_once" : "reject_once";
    claimItem(draft, item, { decision, note: `Settled by ${verdict.by} ${verdict.ref}` }, by, settled);
  }
}
