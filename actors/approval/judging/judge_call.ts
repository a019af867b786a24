/**
 * `tool.judge`: allow, refuse or ask. A call that was withdrawn while its description was on its way ends here; one that was described anew after
 * an edit is `../deciding/edit.ts`'s business.
 */
import { claimsOf } from "../../../lib/policy/claims.ts";
import type { Verdict } from "../../../lib/policy/judge.ts";
import type { ToolJudge } from "../../protocol/tools.ts";
import { countDenial, slowDown } from "./brakes.ts";
import type { Draft } from "../draft.ts";
import { onEdited } from "../deciding/edit.ts";
import { isWithdrawn } from "../items/endings.ts";
import { itemOfCall, openItem } from "../items/items.ts";
import { conversationId, judgeCall, learnOrigin, waitFor } from "./origin.ts";
import { runCall } from "../deciding/outcome.ts";
import { countUse } from "./uses.ts";
import { deniedByPolicy, WITHDRAWN } from "../texts.ts";

/** Judges a described call. */
export function onJudge(draft: Draft, payload: ToolJudge): void {
  const { callId } = payload;
  if (payload.editedFor !== undefined) return onEdited(draft, payload, payload.editedFor);
  const conversation = conversationId(payload.conversation);
  if (isWithdrawn(draft, callId, conversation)) return endWithdrawn(draft, callId, conversation);
  if (itemOfCall(draft, callId)) return;

  const origin = learnOrigin(draft, payload);
  const judged = judgeCall(draft, { ...payload, conversation, origin });
  const verdict = slowDown(draft, judged, { agent: origin.profile ?? conversation, tool: payload.tool });
  switch (verdict.outcome) {
    case "allow":
      return allow(draft, { callId, conversation, digest: payload.digest }, verdict);
    case "deny":
      draft.op({
        op: "call.move",
        callId,
        to: "rejected",
        outcome: "denied_by_policy",
        trace: verdict.trace,
      });
      countUse(draft, verdict);
      recordJudgement(draft, { callId, conversation, digest: payload.digest }, verdict);
      return draft.tell(`conversation/${conversation}`, "tool.result", {
        callId,
        outcome: "rejected",
        text: deniedByPolicy(verdict),
        stopTurn: countDenial(draft, conversation),
      });
    case "ask":
      draft.op({ op: "call.move", callId, to: "waiting", trace: verdict.trace });
      return openItem(draft, {
        id: draft.env.newId(),
        kind: "approval",
        version: 1,
        claimed: false,
        conversation,
        turnId: payload.turnId,
        callId,
        tool: payload.tool,
        arguments: payload.arguments,
        described: payload.described,
        digest: payload.digest,
        origin,
        braked: verdict !== judged,
        createdAt: draft.env.now,
        expiresAt: draft.env.now + waitFor(draft.state, payload).expirySeconds * 1000,
      }, { steps: [...claimSteps(draft, payload), ...verdict.trace] });
    default:
      return verdict.outcome satisfies never;
  }
}

/** What the tool's server says of it, for whoever asks why this waits. It stands beside the reasoning: by itself it allows nothing. */
function claimSteps(
  draft: Draft,
  { tool, described }: ToolJudge,
): { readonly step: string; readonly outcome: string }[] {
  const claims = claimsOf(described.hints);
  if (claims.length === 0) return [];
  const trusted = draft.state.tools.find((known) => known.name === tool)?.trusted;
  const weight = trusted ? "rules go by it, since the server is trusted" : "that allows nothing";
  return [{ step: "claim", outcome: `its server says: ${claims.join(", ")}; ${weight}` }];
}

/** A judgement without a person, for the log. */
function recordJudgement(
  draft: Draft,
  call: { readonly callId: string; readonly conversation: string; readonly digest: string },
  verdict: Verdict,
): void {
  draft.record({
    kind: "judgement",
    callId: call.callId,
    conversation: call.conversation,
    actor: "system",
    surface: "system",
    decision: verdict.outcome,
    digest: call.digest,
    body: { by: verdict.by, ref: verdict.ref },
  });
}

function allow(
  draft: Draft,
  call: { readonly callId: string; readonly conversation: string; readonly digest: string },
  verdict: Verdict,
): void {
  const by = verdict.by === "default" ? "rule" : verdict.by;
  const grant = { by, ref: verdict.ref, digest: call.digest };
  draft.op({
    op: "call.move",
    callId: call.callId,
    to: "judged",
    outcome: "allow",
    trace: verdict.trace,
    grant,
  });
  countUse(draft, verdict);
  recordJudgement(draft, call, verdict);
  runCall(draft, call, grant);
}

function endWithdrawn(draft: Draft, callId: string, conversation: string): void {
  draft.op({ op: "call.move", callId, to: "cancelled" });
  draft.patch({ withdrawn: draft.state.withdrawn.filter((each) => each.callId !== callId) });
  draft.tell(`conversation/${conversation}`, "tool.result", {
    callId,
    outcome: "cancelled",
    text: WITHDRAWN,
  });
}
