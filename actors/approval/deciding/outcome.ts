/** The ways in which a call leaves approval's hands: handed to the toolbox with a grant, rejected, or refused by policy after a decision. */
import type { Verdict } from "../../../lib/policy/judge.ts";
import type { Grant } from "../../protocol/tools.ts";
import { countDenial } from "../judging/brakes.ts";
import type { Draft } from "../draft.ts";
import { settleItem } from "../items/items.ts";
import type { OpenItem } from "../state.ts";
import { release } from "./suspension.ts";
import { deniedByPolicy } from "../texts.ts";

/** How many handed-over calls are remembered for the case that handing over fails. */
const MAX_RUNNING = 2_000;

/** Lets a call run. The row was moved by the caller. */
export function runCall(
  draft: Draft,
  call: { readonly callId: string; readonly conversation: string },
  grant: Grant,
  notBefore?: number,
): void {
  const { callId, conversation } = call;
  const running = new Map(draft.state.running).set(callId, conversation);
  for (const oldest of running.keys()) {
    if (running.size <= MAX_RUNNING) break;
    running.delete(oldest);
  }
  draft.patch({ running });
  release(draft, { callId, conversation, grant }, notBefore);
}

/** Ends a waiting call without running it. */
export function reject(
  draft: Draft,
  item: OpenItem,
  end: { readonly outcome: string; readonly text: string; readonly stopTurn?: boolean },
): void {
  const { callId } = item;
  draft.op({ op: "call.move", callId, to: "rejected", outcome: end.outcome });
  draft.tell(`conversation/${item.conversation}`, "tool.result", {
    callId,
    outcome: "rejected",
    text: end.text,
    stopTurn: countDenial(draft, item.conversation) || (end.stopTurn ?? false),
  });
}

/** A person allowed what policy by now denies. */
export function refuseByPolicy(draft: Draft, item: OpenItem, verdict: Verdict): void {
  draft.record({
    kind: "refusal",
    itemId: item.id,
    callId: item.callId,
    conversation: item.conversation,
    actor: "system",
    surface: "system",
    decision: "refused_by_policy",
    digest: item.digest ?? null,
    body: { ref: verdict.ref },
  });
  reject(draft, item, { outcome: "refused_by_policy", text: deniedByPolicy(verdict) });
  settleItem(draft, item, "failed", { note: `refused_by_policy: ${verdict.ref}` });
}
