/**
 * Whether anybody who may decide an item can be reached at all: somebody signed in with the right to act there, or somebody who may decide the card
 * by a reaction. Push messages go to signed-in devices only, so whoever gets them counts already. If nobody can, the topic is told at once, once a turn, and the item says so. It decides nothing. Proven by `../deciding/people_test.ts`.
 */
import type { Draft } from "../draft.ts";
import { mayAct, mayAllow, needsTwo } from "../deciding/rights.ts";
import type { ApprovalState, OpenItem } from "../state.ts";
import { NOBODY_REACHED } from "../texts.ts";

/** Tells the topic when nobody can be reached, and gives the step by which the item says it. */
export function noteReach(
  draft: Draft,
  item: OpenItem,
): { readonly step: string; readonly outcome: string }[] {
  if (isReachable(draft.state, item, draft.env.now)) return [];
  const { conversation, turnId } = item;
  draft.tell("zulip", "topic.note", { conversation, key: `unreachable/${turnId}`, text: NOBODY_REACHED });
  return [{ step: "reach", outcome: "nobody who may decide this was signed in when it was asked" }];
}

/** Whether somebody could decide the item now. `now`: milliseconds since the epoch. */
export function isReachable(state: ApprovalState, item: OpenItem, now: number): boolean {
  const entitled = entitledPeople(state, item);
  // Whoever told of people may not have told this: then nothing is claimed.
  if (entitled.some(({ sessionUntil }) => sessionUntil === undefined || (sessionUntil ?? 0) > now)) {
    return true;
  }
  const hasReactions = item.origin.source !== "web" && item.kind === "approval" &&
    item.described !== undefined &&
    item.described.risk !== "high";
  return hasReactions && hasReactingPerson(state, item);
}

/** Whether there is anybody in Zulip whose reaction to the item's card would count. */
export function hasReactingPerson(state: ApprovalState, item: OpenItem): boolean {
  const { zulipApprovers, users } = state;
  // Whoever has an account here is entitled by it alone.
  const isListed = (zulipUserId: number) =>
    !users.some((user) => user.zulipUserId === zulipUserId) && mayAllow(state, item, { zulipUserId });
  return zulipApprovers === "*" && !needsTwo(state, item) ||
    zulipApprovers !== "*" && zulipApprovers.some(isListed) ||
    entitledPeople(state, item).some((user) => user.zulipUserId !== null);
}

/** Everybody with an account here who may decide the item now. */
export function entitledPeople(state: ApprovalState, item: OpenItem): ApprovalState["users"] {
  return state.users.filter(({ id: userId }) =>
    mayAct(state, { userId }, item.origin.channelId) && mayAllow(state, item, { userId })
  );
}
