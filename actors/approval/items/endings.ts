/** What ends items and bypasses without anybody's decision: time, a stopped turn, an ended session, a toolbox that could not take over. */
import type { ApprovalExpire, SessionEnded } from "../../protocol/approval.ts";
import type { RequestFailed } from "../../protocol/conversation.ts";
import type { ToolCancel } from "../../protocol/tools.ts";
import { endBypasses } from "../policy/bypasses.ts";
import type { Draft } from "../draft.ts";
import { prolong } from "../calling/escalation.ts";
import { itemOfCall, settleItem } from "./items.ts";
import { failEdit } from "../deciding/edit.ts";
import { conversationId } from "../judging/origin.ts";
import type { OpenItem } from "../state.ts";
import { dropHeld } from "../deciding/suspension.ts";
import { EXPIRED, notRun, WITHDRAWN } from "../texts.ts";
import { dropUndo } from "../deciding/undo.ts";

const MAX_WITHDRAWN = 500;

/** The alarm first tries the compare-and-set; the expiry holds if the item is still open when its own message comes. */
export function onExpire(draft: Draft, payload: ApprovalExpire): void {
  const item = draft.state.items.get(payload.itemId);
  if (!item || item.version !== payload.version || item.edit) return;
  const { id, version } = item;
  if (payload.claimed) return expire(draft, item);
  if (item.claimed || prolong(draft, item, payload)) return;
  draft.op({ op: "item.claim", id, version, decision: null, decidedBy: "system" });
  draft.putItem({ ...item, claimed: true });
  draft.tell("approval", "approval.expire", { itemId: id, version, claimed: true });
}

function expire(draft: Draft, item: OpenItem): void {
  const { callId } = item;
  draft.record({
    kind: "expiry",
    itemId: item.id,
    callId,
    conversation: item.conversation,
    actor: "system",
    surface: "system",
    decision: "expired",
    digest: item.digest ?? null,
  });
  if (item.kind === "approval") {
    draft.op({ op: "call.move", callId, to: "expired" });
    draft.tell(`conversation/${item.conversation}`, "tool.result", {
      callId,
      outcome: "expired",
      text: EXPIRED,
    });
  } else {
    draft.tell("toolbox", "question.answered", { callId, outcome: "expired" });
  }
  settleItem(draft, item, "expired");
}

/** Whether this conversation has withdrawn the call; another one's word does not count. */
export function isWithdrawn(draft: Draft, callId: string, conversation: string): boolean {
  return draft.state.withdrawn.some((each) => each.callId === callId && each.conversation === conversation);
}

/** The turn stopped. A waiting call ends here; one that was handed over is the toolbox's to end; what may yet come of it (its description, its question) is remembered as withdrawn. */
export function onCancel(draft: Draft, payload: ToolCancel, from: string): void {
  const { callId } = payload;
  const conversation = conversationId(from);
  dropHeld(draft, callId, conversation);
  dropUndo(draft, callId, conversation);
  const item = itemOfCall(draft, callId);
  if (!item) {
    const withdrawn = [...draft.state.withdrawn, { callId, conversation }].slice(-MAX_WITHDRAWN);
    return draft.patch({ withdrawn });
  }
  if (item.conversation !== conversation) return;
  if (item.kind === "approval") {
    draft.op({ op: "call.move", callId, to: "cancelled" });
    draft.tell(from, "tool.result", { callId, outcome: "cancelled", text: WITHDRAWN });
  } else {
    draft.tell("toolbox", "question.answered", { callId, outcome: "cancelled" });
  }
  settleItem(draft, item, "cancelled", { note: payload.reason });
}

/** A session's bypasses end with it. */
export function onSessionEnded(draft: Draft, payload: SessionEnded, from: string): void {
  const conversation = conversationId(from);
  endBypasses(draft, (bypass) => bypass.conversation === conversation, payload.reason);
}

/** The toolbox was sent something that it never handled. Nobody else will answer for the call, so approval does. */
export function onRequestFailed(draft: Draft, payload: RequestFailed): void {
  const { callId, itemId } = payload;
  if (payload.type === "tool.redescribe" && itemId !== undefined) {
    const item = draft.state.items.get(itemId);
    return item?.edit ? failEdit(draft, item, payload.message) : undefined;
  }
  if (payload.type !== "tool.run" || callId === undefined) return;
  const conversation = draft.state.running.get(callId);
  if (conversation === undefined) return;
  const outcome = payload.code === "mailbox_full" || payload.code === "not_allowed" ? "failed" : "unknown";
  draft.op({ op: "call.abandon", callId, outcome });
  draft.tell(`conversation/${conversation}`, "tool.result", {
    callId,
    outcome,
    text: notRun(payload.code, payload.message),
  });
}
