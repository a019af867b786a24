/** Saying once more that something waits, never at night, and what happens when its time is over and it shall not end. */
import type { ApprovalExpire, ApprovalRemind } from "../protocol/approval.ts";
import type { Draft } from "./draft.ts";
import { afterQuietHours } from "./settings.ts";
import type { OpenItem } from "./state.ts";
import { stillWaits, waitsForOwner } from "./texts.ts";

/** Sets the alarm for the next reminder, if reminders are on. */
export function armReminder(draft: Draft, item: OpenItem, round: number): void {
  const { gate } = draft.state;
  if (gate.remindSeconds === null) return;
  const notBefore = afterQuietHours(gate, draft.env.now + gate.remindSeconds * 1000);
  const { id: itemId, version } = item;
  draft.tell("approval", "approval.remind", { itemId, version, round }, { notBefore });
}

/** The alarm rang. */
export function onRemind(draft: Draft, { itemId, version, round }: ApprovalRemind): void {
  const item = draft.state.items.get(itemId);
  if (!item || item.version !== version || item.claimed || item.edit) return;
  note(draft, item, `remind/${itemId}/${round}`, stillWaits(item.tool, draft.env.now - item.createdAt));
  armReminder(draft, item, round + 1);
}

/** Whether an item whose time is over goes on waiting, as a decision that is recorded. The compare-and-set is the row's: a person may have been first. */
export function prolong(draft: Draft, item: OpenItem, { round, fixed }: ApprovalExpire): boolean {
  const { onExpiry, expirySeconds } = draft.state.gate;
  if (fixed || onExpiry === "reject" || onExpiry === "escalate" && round > 0) return false;
  const { id, version, callId, conversation } = item;
  const expiresAt = draft.env.now + expirySeconds * 1000;
  draft.op({ op: "item.prolong", id, version, expiresAt });
  draft.putItem({ ...item, expiresAt });
  draft.tell("approval", "approval.expire", { itemId: id, version, round: round + 1 }, {
    notBefore: expiresAt,
  });
  draft.record({
    kind: "expiry",
    itemId: id,
    callId,
    conversation,
    actor: "system",
    surface: "system",
    decision: onExpiry === "park" ? "parked" : "escalated",
    digest: item.digest ?? null,
  });
  if (onExpiry === "escalate") note(draft, item, `escalate/${id}`, waitsForOwner(item.tool));
  return true;
}

function note(draft: Draft, item: OpenItem, key: string, text: string): void {
  draft.tell("zulip", "topic.note", { conversation: item.conversation, key, text });
}
