/**
 * `approval.decide`: the compare-and-set has happened; here the decision is checked again (role, policy), recorded in the chain and applied. A
 * second message for one item finds it closed, claimed by an edit or gone, and changes nothing.
 */
import type { ApprovalDecide, Decider, DecisionBody, SettledBy } from "../../protocol/approval.ts";
import { isAllowing } from "../../../lib/decision_kind.ts";
import { endDenials } from "../judging/brakes.ts";
import { addBypass } from "../policy/bypasses.ts";
import type { Draft } from "../draft.ts";
import { redescribe } from "./edit.ts";
import { identityOf, reopenItem, settleItem } from "../items/items.ts";
import { judgeCall } from "../judging/origin.ts";
import { refuseByPolicy, reject, runCall } from "./outcome.ts";
import { applyAnswer } from "../items/questions.ts";
import { decisionProblem, hasStandingFirst, needsTwo } from "./rights.ts";
import { addRule } from "../policy/rules.ts";
import { settleCovered } from "../policy/settle_covered.ts";
import type { OpenItem } from "../state.ts";
import {
  CANCELLED_BY_PERSON,
  deniedByPolicy,
  EDIT_NEEDS_ONE,
  NO_LONGER_COVERED,
  NOT_WIDENED,
  ONLY_ONCE,
  rejectedByPerson,
  SECOND_NEEDED,
} from "../texts.ts";
import { rememberUndo, undoUntil } from "./undo.ts";

/** Applies a decision. */
export function onDecide(draft: Draft, payload: ApprovalDecide, from: string): void {
  const item = draft.state.items.get(payload.itemId);
  if (!item || item.version !== payload.version || item.edit) return;
  const { body, by, settled } = payload;
  if (settled && from === "approval") return applySettled(draft, item, { body, by, settled });
  const problem = decisionProblem(draft.state, item, { body, by, from });
  record(draft, item, body, by, problem);
  if (problem) {
    tellDecided(draft, item, { decision: body.decision, by: by.name });
    return refuseDecider(draft, item, problem);
  }
  if (item.kind !== "approval") {
    tellDecided(draft, item, { decision: body.decision, by: by.name });
    return applyAnswer(draft, item, body, by);
  }
  if (isAllowing(body.decision)) endDenials(draft, item.conversation);
  applyToCall(draft, item, body, by);
}

function tellDecided(
  draft: Draft,
  { callId, id: itemId, conversation }: OpenItem,
  decided: { readonly decision: string; readonly by: string },
): void {
  draft.tell(`conversation/${conversation}`, "call.decided", { callId, itemId, ...decided });
}

function applyToCall(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const decided = { decision: body.decision, by: by.name };
  switch (body.decision) {
    case "allow_once":
    case "allow_session":
    case "allow_always":
      return applyAllow(draft, item, body, by);
    case "reject_once":
    case "reject_always":
      return applyReject(draft, item, body, by);
    case "cancel":
      tellDecided(draft, item, decided);
      reject(draft, item, { outcome: "cancelled_by_person", text: CANCELLED_BY_PERSON, stopTurn: true });
      return settleItem(draft, item, "applied", { decision: decided });
    case "edit_and_allow":
      if (item.firstApproval || needsTwo(draft.state, item)) {
        return reopenItem(draft, item, { note: EDIT_NEEDS_ONE });
      }
      return redescribe(draft, item, body, by);
    case "answer":
      // `decisionProblem` lets an answer pass only to a question.
      return;
    default:
      return body.decision satisfies never;
  }
}

function applyReject(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const decided = { decision: body.decision, by: by.name };
  // The rule comes first, so that the person is told when there is none.
  const added = body.decision === "reject_always" && body.rule ? addRule(draft, body.rule, by) : undefined;
  const note = added?.ok === false ? `Rejected once; the rule was not made: ${added.message}` : undefined;
  tellDecided(draft, item, decided);
  reject(draft, item, { outcome: "rejected", text: rejectedByPerson(body.note) });
  settleItem(draft, item, "applied", { decision: decided, note });
  if (added?.ok) settleCovered(draft, by, [added.id]);
}

/** A change of policy settled it. Nobody decided this call, so the log, the item and the grant name what did. */
function applySettled(
  draft: Draft,
  item: OpenItem,
  { body, by, settled }: {
    readonly body: DecisionBody;
    readonly by: Decider;
    readonly settled: SettledBy;
  },
): void {
  const { callId, id: itemId, conversation, described, digest, tool } = item;
  const allowed = isAllowing(body.decision);
  if (allowed && !isCovered(draft, item, settled)) {
    return reopenItem(draft, item, { note: NO_LONGER_COVERED });
  }
  draft.record({
    kind: "settled",
    itemId,
    callId,
    conversation,
    actor: "system",
    surface: "system",
    decision: allowed ? "allow" : "deny",
    digest: digest ?? null,
    body: { ...settled, changedBy: by.name, version: item.version },
  });
  const decision = { decision: body.decision, by: "policy" };
  tellDecided(draft, item, decision);
  if (!allowed) {
    reject(draft, item, { outcome: "denied_by_policy", text: deniedByPolicy(settled) });
    return settleItem(draft, item, "applied", { decision });
  }
  if (!described || digest === undefined || tool === undefined) return;
  const verdict = judgeCall(draft, { tool, described, conversation, origin: item.origin });
  if (verdict.outcome === "deny") return refuseByPolicy(draft, item, verdict);
  const grant = {
    by: settled.by === "default" ? "rule" as const : settled.by,
    ref: settled.ref,
    digest,
  };
  draft.op({ op: "call.move", callId, to: "decided", outcome: "allow", grant });
  settleItem(draft, item, "applied", { decision });
  runCall(draft, item, grant);
}

/** Whether what settled an item still lets its call go, or only will not any more because this was its last use. */
function isCovered(draft: Draft, item: OpenItem, { by, ref }: SettledBy): boolean {
  const { tool, described, conversation, origin } = item;
  if (tool === undefined || !described || needsTwo(draft.state, item)) return false;
  if (judgeCall(draft, { tool, described, conversation, origin }).outcome !== "ask") return true;
  const { state: { bypasses, rules }, env } = draft;
  if (by === "bypass") return bypasses.some(({ id, expiresAt }) => id === ref && expiresAt > env.now);
  return by === "rule" && (rules?.some(({ id, action }) => id === ref && action === "allow") ?? false);
}

function applyAllow(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const { described, digest, tool } = item;
  if (!described || digest === undefined || tool === undefined) return;
  const verdict = judgeCall(draft, { tool, described, conversation: item.conversation, origin: item.origin });
  if (verdict.outcome === "deny") return refuseByPolicy(draft, item, verdict);
  if (needsTwo(draft.state, item) && !hasStandingFirst(draft.state, item)) {
    return waitForSecond(draft, item, body, by);
  }

  // The widening comes first, so that no later call of the agent is asked for in between.
  const { made, note } = widen(draft, item, body, by);
  const grant = { by: "decision" as const, ref: item.id, digest };
  draft.op({ op: "call.move", callId: item.callId, to: "decided", outcome: "allow", grant });
  const until = undoUntil(draft, item);
  const decision = { decision: body.decision, by: by.name };
  tellDecided(draft, item, decision);
  settleItem(draft, item, "applied", { note, decision, undoUntil: until });
  if (until !== undefined) rememberUndo(draft, item, until);
  runCall(draft, item, grant, until);
  if (made !== undefined) settleCovered(draft, by, [made]);
}

/** One of two people has allowed it, which decides nothing yet: it is offered again to everybody else. */
function waitForSecond(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const { id: itemId, conversation } = item;
  const first = { by: by.name, identity: identityOf(by), at: draft.env.now };
  draft.tell("zulip", "topic.note", { conversation, key: `second/${itemId}`, text: SECOND_NEEDED });
  reopenItem(draft, item, { first, note: body.decision === "allow_once" ? undefined : NOT_WIDENED });
}

/** Adds the bypass or rule that a decision asks for; or gives what the person must know when it could not. */
function widen(
  draft: Draft,
  item: OpenItem,
  body: DecisionBody,
  by: Decider,
): { readonly made?: string; readonly note?: string } {
  if (body.decision === "allow_once") return {};
  if (item.firstApproval) return { note: NOT_WIDENED };
  if (item.described?.askOnce) return { note: ONLY_ONCE };
  if (body.decision === "allow_session") return { made: addBypass(draft, item, body, by) };
  const added = body.rule ? addRule(draft, body.rule, by) : undefined;
  if (added?.ok) return { made: added.id };
  return added ? { note: `Allowed once; the rule was not made: ${added.message}` } : {};
}

function refuseDecider(draft: Draft, item: OpenItem, problem: string): void {
  if (item.kind === "approval") {
    reject(draft, item, { outcome: "refused", text: rejectedByPerson(problem) });
  } else {
    draft.tell("toolbox", "question.answered", { callId: item.callId, outcome: "declined" });
  }
  settleItem(draft, item, "failed", { note: problem });
}

function record(
  draft: Draft,
  item: OpenItem,
  body: DecisionBody,
  by: Decider,
  problem: string | undefined,
): void {
  const { decision, ...rest } = body;
  draft.record({
    kind: problem ? "refusal" : "decision",
    itemId: item.id,
    callId: item.callId,
    conversation: item.conversation,
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision,
    digest: item.digest ?? null,
    body: { ...rest, name: by.name, role: by.role, version: item.version, problem },
  });
}
