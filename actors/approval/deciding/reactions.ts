/**
 * Deciding by a Zulip reaction, or by a button under the card, which is the same thing in another form. It counts only on the card of an open item in
 * its present version, by somebody who may approve in that channel, for a risk that is at most medium, and when the card showed the whole call.
 * Everything else decides nothing and is said once in the topic.
 */
import { reactionMeanings } from "../../../lib/reaction_meanings.ts";
import type { CardShown, Decider, PeopleKnown } from "../../protocol/approval.ts";
import type { ApprovalReact, CardGone } from "../../protocol/cards.ts";
import type { Draft } from "../draft.ts";
import { claimItem, showCard } from "../items/items.ts";
import { hasAllowedFirst, isBarredRequester, isNoneOfTwo } from "./rights.ts";
import type { ApprovalState, OpenItem } from "../state.ts";
import { reactionNotes } from "../texts.ts";

/** Remembers which message is an item's card. */
export function onCardShown(draft: Draft, payload: CardShown): void {
  const item = draft.state.items.get(payload.itemId);
  if (!item || item.version !== payload.version) return;
  const { messageId, whole } = payload;
  draft.op({ op: "item.card", id: item.id, messageId, whole });
  draft.putItem({ ...item, card: { messageId, whole } });
}

/** Somebody deleted a card: it is shown again. That this happens only once is the gateway's part, which knows what it posted. */
export function onCardGone(draft: Draft, { messageId }: CardGone): void {
  const item = itemOfCard(draft.state, messageId);
  if (!item || item.claimed || item.edit) return;
  const shown = { ...item, card: undefined };
  draft.putItem(shown);
  showCard(draft, shown, "waiting");
}

/** Takes over the list of people. */
export function onPeople(draft: Draft, payload: PeopleKnown): void {
  draft.patch({ users: payload.users });
}

/** Decides by a reaction, or says why not. */
export function onReact(draft: Draft, payload: ApprovalReact): void {
  const { emoji, button, messageId } = payload;
  const decision = Object.hasOwn(reactionMeanings, emoji) ? reactionMeanings[emoji] : undefined;
  if (!decision) return;
  const item = itemOfCard(draft.state, messageId);
  if (!item || item.claimed || item.edit || button && button.version !== item.version) {
    // A reaction's card says what became of it; whoever pressed a button is told.
    if (button) sayWhy(draft, button.conversation, "too_late", payload, String(messageId));
    return;
  }
  const by = deciderOf(draft.state, item, payload);
  const problem = problemOf(draft.state, item, by, decision);
  if (by && !problem) return claimItem(draft, item, { decision }, by);
  // What stands there may be the first person's own word, which was heard.
  if (problem === "second_person" && payload.standing) return;
  sayWhy(draft, item.conversation, problem ?? "not_linked", payload, item.id);
}

function sayWhy(
  draft: Draft,
  conversation: string,
  code: keyof typeof reactionNotes,
  { zulipUserId }: ApprovalReact,
  about: string,
): void {
  const key = `react/${about}/${code}/${zulipUserId}`;
  draft.tell("zulip", "topic.note", { conversation, key, text: reactionNotes[code] });
}

function itemOfCard(state: ApprovalState, messageId: number): OpenItem | undefined {
  return [...state.items.values()].find((open) => open.card?.messageId === messageId);
}

function problemOf(
  state: ApprovalState,
  item: OpenItem,
  by: Decider | undefined,
  decision: "allow_once" | "reject_once",
): keyof typeof reactionNotes | undefined {
  if (!by) return "not_linked";
  if (item.kind !== "approval") return "question";
  if (item.described?.risk === "high" || !item.described) return "high_risk";
  if (!item.card?.whole) return "not_whole";
  if (decision !== "allow_once") return undefined;
  if (isBarredRequester(state, item, by)) return "requester";
  if (isNoneOfTwo(state, item, by)) return "not_told_apart";
  return hasAllowedFirst(state, item, by) ? "second_person" : undefined;
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
