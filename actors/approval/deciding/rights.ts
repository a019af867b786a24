/**
 * Who may decide what, as approval itself knows people: the last line behind the edge, and never laxer than it. A right is looked at when the
 * decision is applied, so one that was taken away meanwhile counts no more. Proven by `rights_test.ts` and `../items/waiting_test.ts`.
 */
import { decisionsFor, isAllowing, isLasting } from "../../../lib/decision_kind.ts";
import type { Decider, DecisionBody } from "../../protocol/approval.ts";
import { needsTwoPersons } from "../judging/origin.ts";
import type { ApprovalState, OpenItem } from "../state.ts";

/** Why this decision may not be made by this person, whoever let it through; undefined when it may. */
export function decisionProblem(
  state: ApprovalState,
  item: OpenItem,
  { body, by, from }: { readonly body: DecisionBody; readonly by: Decider; readonly from: string },
): string | undefined {
  if (from === "edge" && !mayAct(state, by, item.origin.channelId)) {
    return "the decider may no longer decide here";
  }
  const role = from === "edge" ? roleOf(state, by) : by.role;
  if (role !== "owner" && role !== "approver") return "the decider may not approve";
  if (isLasting(body.decision) && role !== "owner") return "only the owner may make a lasting rule";
  if (isWide(body) && role !== "owner") return "only the owner may allow more than this tool";
  if (!decisionsFor(item.kind).includes(body.decision)) return "the decision does not fit the item";
  if (!isAllowing(body.decision)) return undefined;
  if (hasAllowedFirst(state, item, by)) {
    return "a second person must allow it, not the same one twice";
  }
  if (isNoneOfTwo(state, item, by)) {
    return "two people must allow it, and only people with an account here count";
  }
  return isBarredRequester(state, item, by) ? "whoever asked for it may not allow it" : undefined;
}

/** The role of somebody who is signed in: as the edge saw it and as it is known here, whichever is less. */
export function roleOf(state: ApprovalState, { userId, role: claimed = "viewer" }: Decider): Role {
  const known = state.users.find((user) => user.id === userId)?.role ?? "viewer";
  return ROLES.indexOf(known) < ROLES.indexOf(claimed) ? known : claimed;
}

type Role = NonNullable<Decider["role"]>;

/** The least first. */
const ROLES: readonly Role[] = ["viewer", "approver", "owner"];

/** Whether the decision skips questions for other tools than that of its item. */
function isWide({ decision, scope }: DecisionBody): boolean {
  return decision === "allow_session" && scope !== undefined && scope !== "tool";
}

/** Whether somebody who is known here may decide, take back and tighten in this channel; undefined is a conversation in no channel. */
export function mayAct(
  state: ApprovalState,
  by: Pick<Decider, "userId">,
  channelId: number | undefined,
): boolean {
  const user = state.users.find((known) => known.id === by.userId);
  if (user?.role === "owner") return true;
  return user?.role === "approver" && channelId !== undefined && user.channels.includes(channelId);
}

/** Whether nothing but a right to decide here is needed for this person to allow it: it is not their own call, nor allowed by them already. */
export function mayAllow(state: ApprovalState, item: OpenItem, by: Account): boolean {
  return !hasAllowedFirst(state, item, by) && !isBarredRequester(state, item, by) &&
    !isNoneOfTwo(state, item, by);
}

/** Whether two people must allow it, by the settings of this moment. */
export function needsTwo(state: ApprovalState, { kind, tool, described }: OpenItem): boolean {
  return kind === "approval" && tool !== undefined && described !== undefined &&
    needsTwoPersons(state, tool, described);
}

/**
 * Whether it needs two people and this is nobody who can be told apart from the other one: an account in Zulip that is linked to no user may be
 * anybody's, the first one's too. So it is neither of the two.
 */
export function isNoneOfTwo(state: ApprovalState, item: OpenItem, by: Account): boolean {
  return needsTwo(state, item) && userOf(state, by) === undefined;
}

/** Whether one of two people has allowed it, who is still a user and may still decide here. */
export function hasStandingFirst(state: ApprovalState, { firstApproval, origin }: OpenItem): boolean {
  return firstApproval !== undefined &&
    mayAct(state, { userId: firstApproval.identity }, origin.channelId);
}

/** Whether they are the first of two people who allowed it. */
export function hasAllowedFirst(state: ApprovalState, { firstApproval }: OpenItem, by: Account): boolean {
  if (!firstApproval) return false;
  const { userId, zulipUserId } = accountsOf(state, by);
  return firstApproval.identity === (userId ?? "") || firstApproval.identity === `zulip:${zulipUserId}`;
}

/** Whether the person's own words led to this call, and the settings leave it to others. */
export function isBarredRequester(state: ApprovalState, item: OpenItem, by: Account): boolean {
  if (state.gate.requesterMayApprove || item.kind !== "approval") return false;
  const { userId, zulipUserId } = accountsOf(state, by);
  return item.origin.requestedBy?.some(({ kind, id }) =>
    kind === "zulip" ? id === `${zulipUserId}` : kind === "web" && id === userId
  ) ?? false;
}

type Account = Pick<Decider, "userId" | "zulipUserId">;

/** Both accounts of a person, as far as they are known to belong together. */
function accountsOf(state: ApprovalState, by: Account): Account {
  const user = state.users.find((known) =>
    by.userId !== undefined ? known.id === by.userId : known.zulipUserId === by.zulipUserId
  );
  return { userId: by.userId ?? user?.id, zulipUserId: by.zulipUserId ?? user?.zulipUserId ?? undefined };
}

/** The one user to whom all accounts that are named belong at this moment. */
function userOf(
  { users }: ApprovalState,
  { userId, zulipUserId }: Account,
): ApprovalState["users"][number] | undefined {
  if (userId === undefined && zulipUserId === undefined) return undefined;
  return users.find((known) =>
    (userId === undefined || known.id === userId) &&
    (zulipUserId === undefined || known.zulipUserId === zulipUserId)
  );
}
