/**
 * Edit and allow: the edited arguments are described anew by the toolbox and run on the strength of the decision that allowed these very arguments,
 * unless policy denies them. Arguments that come to nothing use up no approval: the item waits again, in a new version, and says why. An edit
 * makes no call that two people must allow. Proven by `edit_test.ts`.
 */
import { canonicalJson } from "../../../lib/digest.ts";
import type { Decider, DecisionBody } from "../../protocol/approval.ts";
import type { ToolJudge, ToolUndescribed } from "../../protocol/tools.ts";
import { changesBetween } from "./changes.ts";
import type { Draft } from "../draft.ts";
import { identityOf, reopenItem, settleItem, showCard } from "../items/items.ts";
import { judgeCall, needsTwoPersons } from "../judging/origin.ts";
import { refuseByPolicy, runCall } from "./outcome.ts";
import type { Edit, OpenItem } from "../state.ts";
import { EDIT_NEEDS_ONE, editUnusable } from "../texts.ts";
import { rememberUndo, undoUntil } from "./undo.ts";

/** Has the edited arguments described; `onEdited` or `onUndescribed` follows. */
export function redescribe(draft: Draft, item: OpenItem, body: DecisionBody, by: Decider): void {
  const edit: Edit = {
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

/** The edited call as the toolbox describes it. */
export function onEdited(draft: Draft, payload: ToolJudge, itemId: string): void {
  const item = draft.state.items.get(itemId);
  if (!item?.edit || item.callId !== payload.callId) return;
  const { tool, described, digest } = payload;
  if (!sameArguments(payload.arguments, item.edit.arguments)) {
    return failEdit(draft, item, "the toolbox described other arguments than the edited ones");
  }
  // By the edited call's own class, and by the settings of this moment.
  if (needsTwoPersons(draft.state, tool, described)) {
    return reopenItem(draft, item, { note: EDIT_NEEDS_ONE });
  }
  const edited: OpenItem = { ...item, arguments: payload.arguments, described, digest };
  const verdict = judgeCall(draft, { ...payload, conversation: item.conversation, origin: item.origin });
  if (verdict.outcome === "deny") return refuseByPolicy(draft, edited, verdict);
  runEdited(draft, edited, { edit: item.edit, before: item.arguments ?? "", digest });
}

function runEdited(
  draft: Draft,
  item: OpenItem,
  { edit, before, digest }: { readonly edit: Edit; readonly before: string; readonly digest: string },
): void {
  const { id: itemId, callId, conversation, described } = item;
  const grant = { by: "decision" as const, ref: itemId, digest };
  draft.op({
    op: "call.move",
    callId,
    to: "decided",
    outcome: "allow",
    described,
    digest,
    arguments: item.arguments,
    grant,
  });
  draft.record({
    kind: "decision",
    itemId,
    callId,
    conversation,
    actor: edit.by,
    surface: edit.surface,
    device: edit.device ?? null,
    decision: "edited",
    digest,
  });
  const decided = { decision: "edit_and_allow", by: edit.name };
  const changes = changesBetween(before, edit.arguments);
  draft.tell(`conversation/${conversation}`, "call.decided", { callId, itemId, ...decided, changes });
  const until = undoUntil(draft, item);
  settleItem(draft, item, "applied", { decision: decided, undoUntil: until });
  if (until !== undefined) rememberUndo(draft, item, until);
  runCall(draft, { callId, conversation }, grant, until);
}

/** The toolbox cannot make sense of edited arguments. */
export function onUndescribed(draft: Draft, payload: ToolUndescribed): void {
  const item = draft.state.items.get(payload.itemId);
  if (item?.edit && item.callId === payload.callId) failEdit(draft, item, payload.message);
}

/** An edit that leads nowhere: the item waits again as it was, with the reason for whoever decides it now. */
export function failEdit(draft: Draft, item: OpenItem, message: string): void {
  reopenItem(draft, item, { note: editUnusable(item.edit?.name ?? "", message) });
}

function sameArguments(text: string, expected: unknown): boolean {
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(expected);
  } catch {
    return false;
  }
}
