/** Saying once more that something waits, never in the quiet hours. Proven by `../items/waiting_test.ts`. */
import type { ApprovalRemind } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { pushWaiting } from "./push.ts";
import { afterQuietHours } from "./quiet_hours.ts";
import type { OpenItem } from "../state.ts";
import { stillWaits } from "../texts.ts";

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
  const key = `remind/${itemId}/${version}/${round}`;
  note(draft, item, key, stillWaits(item.kind, draft.env.now - item.createdAt));
  pushWaiting(draft, item, key);
  armReminder(draft, item, round + 1);
}

function note(draft: Draft, item: OpenItem, key: string, text: string): void {
  draft.tell("zulip", "topic.note", { conversation: item.conversation, key, text });
}
