/**
 * `approval.decide`: the compare-and-set has happened; here the decision is checked again (role, policy), recorded in the chain and applied. A
 * second message for one item finds it closed, claimed by an edit or gone, and changes nothing.
 */
import type { ApprovalDecide, Decider, DecisionBody } from "../protocol/approval.ts";
import { decisionsFor, isAllowing, isLasting } from "../../lib/decision_kind.ts";
import type { Draft } from "./draft.ts";
import { identityOf, settleItem, showCard } from "./items.ts";
import { judgeCall } from "./origin.ts";
import { refuseByPolicy, reject, runCall } from "./outcome.ts";
import { addBypass, settleCovered } from "./policy_change.ts";
import { applyAnswer } from "./questions.ts";
import { addRule } from "./rules.ts";
import type { OpenItem } from "./state.ts";
import { rememberUndo, undoUntil } from "./undo.ts";
import { needsTwo } from "./settings.ts";
import { CANCELLED_BY_PERSON, rejectedByPerson, SECOND_NEEDED } from "./texts.ts";

/** Applies a decision. */
export function onDecide(draft: Draft, payload: ApprovalDecide, from: string): void {
  const item = draft.state.items.get(payload.itemId);
  if (!item || item.version !== payload.version || item.edit) return;
  const { body, by } = payload;
  const problem = roleProblem(item, body, by) ??
    (from === "edge" ? rightsProblem(draft, item, by) : undefined);
  record(draft, item, body, by, problem);
  // One of two approvals decides nothing yet.
  if (problem || item.firstApproval || !isAllowing(body.decision) || !twoFor(draft, item)) {
    const { callId, id: itemId } = item;
    const decided = { callId, itemId, decision: body.decision, by: by.name };
    draft.tell(`conversation/${item.conversation}`, "call.decided", decided);
  }
  if (problem) return refuseDecider(draft, item, problem);
  if (item.kind !== "approval") return applyAnswer(draft, item, body, by);
  applyToCall(draft, item, body, by);
}

function applyToCall(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const decided = { decision: body.decision, by: by.name };
  switch (body.decision) {
    case "allow_once":
    case "allow_session":
    case "allow_always":
      return applyAllow(draft, item, body, by);
    case "reject_once":
    case "reject_always": {
      reject(draft, item, { outcome: "rejected", text: rejectedByPerson(body.note) });
      settleItem(draft, item, "applied", { decision: decided });
      const rule = body.decision === "reject_always" && body.rule && addRule(draft, body.rule, by);
      if (rule && rule.ok) settleCovered(draft, by);
      return;
    }
    case "cancel":
      reject(draft, item, { outcome: "cancelled_by_person", text: CANCELLED_BY_PERSON, stopTurn: true });
      return settleItem(draft, item, "applied", { decision: decided });
    case "edit_and_allow":
      if (item.firstApproval || twoFor(draft, item)) return refuseDecider(draft, item, EDIT_NEEDS_ONE);
      return redescribe(draft, item, body, by);
    case "answer":
      // `roleProblem` lets an answer pass only to a question.
      return;
    default:
      return body.decision satisfies never;
  }
}

/** Two people allow the same call, so none of them changes it. */
const EDIT_NEEDS_ONE =
  "Two people must allow this tool, so its arguments cannot be edited. Propose the edited call anew.";

function twoFor(draft: Draft, { tool, described }: OpenItem): boolean {
  return tool !== undefined && described !== undefined &&
    needsTwo(draft.state.gate, { tool, class: described.class });
}

function applyAllow(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const { described, digest, tool } = item;
  if (!described || digest === undefined || tool === undefined) return;
  const verdict = judgeCall(draft, { tool, described, conversation: item.conversation, origin: item.origin });
  if (verdict.outcome === "deny") return refuseByPolicy(draft, item, verdict);

  if (!item.firstApproval && twoFor(draft, item)) {
    return waitForSecond(draft, item, by);
  }

  // The widening comes first, so that no later call of the agent is asked for in between.
  const note = widen(draft, item, body, by);
  const grant = { by: "decision" as const, ref: item.id, digest };
  draft.op({ op: "call.move", callId: item.callId, to: "decided", outcome: "allow", grant });
  const until = undoUntil(draft, item);
  const decision = { decision: body.decision, by: by.name };
  settleItem(draft, item, "applied", { note, decision, undoUntil: until });
  if (until !== undefined) rememberUndo(draft, item, until);
  runCall(draft, item, grant, until);
  if (body.decision !== "allow_once") settleCovered(draft, by);
}

/** One of two people has allowed it: it is offered again, in a new version, to everybody else. */
function waitForSecond(draft: Draft, item: OpenItem, by: Decider): void {
  const first = { by: by.name, identity: identityOf(by), at: draft.env.now };
  draft.op({ op: "item.reopen", id: item.id, first });
  const again = { ...item, version: item.version + 2, claimed: false, card: undefined, firstApproval: first };
  draft.putItem(again);
  const { id: itemId, version, conversation } = again;
  draft.tell("approval", "approval.expire", { itemId, version }, { notBefore: item.expiresAt });
  draft.tell("zulip", "topic.note", { conversation, key: `second/${itemId}`, text: SECOND_NEEDED });
  showCard(draft, again, "waiting");
}

/** Adds the bypass or rule that a decision asks for; gives what the person must know when it could not. */
function widen(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): string | undefined {
  if (body.decision === "allow_once" || item.described?.askOnce || item.firstApproval) return undefined;
  if (body.decision === "allow_session") return addBypass(draft, item, body, by);
  const added = body.rule ? addRule(draft, body.rule, by) : undefined;
  return added?.ok === false ? `Allowed once; the rule was not made: ${added.message}` : undefined;
}

function redescribe(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const edit = {
    by: identityOf(by),
    name: by.name,
    surface: by.surface,
    device: by.device,
    arguments: body.arguments ?? {},
  };
  draft.putItem({ ...item, edit });
  showCard(draft, item, "decided", { decision: body.decision, by: by.name });
  draft.tell("toolbox", "tool.redescribe", {
    callId: item.callId,
    turnId: item.turnId,
    conversation: item.conversation,
    itemId: item.id,
    tool: item.tool ?? "",
    arguments: JSON.stringify(edit.arguments),
  });
}

/** The last line: what the edge should have refused already. */
function roleProblem(item: OpenItem, body: DecisionBody, by: Decider): string | undefined {
  if (by.role !== "owner" && by.role !== "approver") return "the decider may not approve";
  if (isLasting(body.decision) && by.role !== "owner") return "only the owner may make a lasting rule";
  if (!decisionsFor(item.kind).includes(body.decision)) return "the decision does not fit the item";
  if (item.firstApproval?.identity === identityOf(by) && isAllowing(body.decision)) {
    return "a second person must allow it, not the same one twice";
  }
  return undefined;
}

/** What the edge let through may have been taken from the person since. Somebody who is new here is the edge's word. */
function rightsProblem(draft: Draft, item: OpenItem, by: Decider): string | undefined {
  const user = draft.state.users.find((known) => known.id === by.userId);
  if (!user || user.role === "owner") return undefined;
  const channel = item.origin.channelId;
  const may = user.role === "approver" && (channel === undefined || user.channels.includes(channel));
  return may ? undefined : "the decider may no longer decide here";
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
