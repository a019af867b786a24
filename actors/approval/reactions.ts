/**
 * Deciding by a Zulip reaction. It counts only on the card of an open item in its present version, by somebody who may approve in that channel,
 * for a risk that is at most medium, and when the card showed the whole call. Everything else decides nothing and is said once in the topic.
 */
import type { ApprovalReact, CardShown, Decider, PeopleKnown } from "../protocol/approval.ts";
import type { Draft } from "./draft.ts";
import { claimItem, identityOf } from "./items.ts";
import type { ApprovalState, OpenItem } from "./state.ts";
import { reactionNotes } from "./texts.ts";

/** Zulip's names of the emoji that decide. */
const meanings: Readonly<Record<string, "allow_once" | "reject_once">> = {
  "+1": "allow_once",
  "thumbs_up": "allow_once",
  "check": "allow_once",
  "check_mark": "allow_once",
  "-1": "reject_once",
  "thumbs_down": "reject_once",
  "cross_mark": "reject_once",
};

/** Remembers which message is an item's card. */
export function onCardShown(draft: Draft, payload: CardShown): void {
  const item = draft.state.items.get(payload.itemId);
  if (!item || item.version !== payload.version) return;
  const { messageId, whole } = payload;
  draft.op({ op: "item.card", id: item.id, messageId, whole });
  draft.putItem({ ...item, card: { messageId, whole } });
}

/** Takes over the list of people. */
export function onPeople(draft: Draft, payload: PeopleKnown): void {
  draft.patch({ users: payload.users });
}

/** Decides by a reaction, or says why not. */
export function onReact(draft: Draft, payload: ApprovalReact): void {
  const decision = Object.hasOwn(meanings, payload.emoji) ? meanings[payload.emoji] : undefined;
  const item = [...draft.state.items.values()].find((open) => open.card?.messageId === payload.messageId);
  if (!decision || !item || item.claimed || item.edit) return;
  const by = deciderOf(draft.state, item, payload);
  const problem = problemOf(item, by, decision);
  if (by && !problem) return claimItem(draft, item, { decision }, by);
  const code = problem ?? "not_linked";
  draft.tell("zulip", "topic.note", {
    conversation: item.conversation,
    key: `react/${item.id}/${code}/${payload.zulipUserId}`,
    text: reactionNotes[code],
  });
}

function problemOf(
  item: OpenItem,
  by: Decider | undefined,
  decision: "allow_once" | "reject_once",
): keyof typeof reactionNotes | undefined {
  if (!by) return "not_linked";
  if (item.kind !== "approval") return "question";
  if (item.described?.risk === "high" || !item.described) return "high_risk";
  if (!item.card?.whole) return "not_whole";
  if (decision === "allow_once" && item.firstApproval?.identity === identityOf(by)) return "second_person";
  return undefined;
}

/** The person behind the reaction, if they may approve where this conversation stands. */
function deciderOf(state: ApprovalState, item: OpenItem, react: ApprovalReact): Decider | undefined {
  const { zulipUserId } = react;
  const by = { surface: "zulip" as const, zulipUserId };
  const user = state.users.find((known) => known.zulipUserId === zulipUserId);
  const channel = item.origin.channelId;
  const entitled = user?.role === "owner" ||
    user?.role === "approver" && channel !== undefined && user.channels.includes(channel);
  if (user && entitled) return { ...by, userId: user.id, name: user.name, role: "approver" };
  // Somebody who has an account here has its rights and no others, whatever the list says.
  if (user) return undefined;
  const listed = state.zulipApprovers === "*" || state.zulipApprovers.includes(zulipUserId);
  return listed ? { ...by, name: react.name, role: "approver" } : undefined;
}
