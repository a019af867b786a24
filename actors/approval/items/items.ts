/**
 * The life of a pending item in approval's hands: opened, claimed, settled, and shown in its topic at each step. Claiming is how approval itself
 * decides (a reaction, a bypass, an expiry): the compare-and-set and a message to itself are one commit; a person's decision that was
 * first stands before that message in the mailbox, so whichever is handled first has won.
 */
import type { StoredApproval, StoredDecision } from "../../../store/ops/items.ts";
import type { Decider, DecisionBody, SettledBy } from "../../protocol/approval.ts";
import type { Draft, PayloadIn } from "../draft.ts";
import { pushSettled, pushWaiting } from "../calling/push.ts";
import { hasReactingPerson, noteReach } from "../calling/reach.ts";
import { armReminder } from "../calling/reminders.ts";
import type { OpenItem } from "../state.ts";

/** Who decided what a change of policy settled. */
const POLICY = "policy";

/** Opens an item, tells its conversation and topic, and sets the alarm. */
export function openItem(
  draft: Draft,
  item: OpenItem,
  details: { steps?: readonly unknown[] | undefined; fixed?: boolean } = {},
): void {
  draft.putItem(item);
  const steps = [...noteReach(draft, item), ...details.steps ?? []];
  draft.op({
    op: "item.create",
    id: item.id,
    kind: item.kind,
    conversation: item.conversation,
    turnId: item.turnId,
    callId: item.callId,
    tool: item.tool,
    arguments: item.arguments,
    described: item.described,
    digest: item.digest,
    risk: item.described?.risk,
    trace: { steps, origin: item.origin, braked: item.braked },
    question: item.question,
    expiresAt: item.expiresAt,
  });
  const { id: itemId, callId, kind } = item;
  draft.tell(`conversation/${item.conversation}`, "call.waiting", { callId, itemId, kind });
  showCard(draft, item, "waiting");
  pushWaiting(draft, item, `asked/${itemId}/${item.version}`);
  draft.tell(
    "approval",
    "approval.expire",
    { itemId, version: item.version, fixed: details.fixed ?? false },
    {
      notBefore: item.expiresAt,
    },
  );
  armReminder(draft, item, 1);
}

/** Shows the item's card as it now stands. */
export function showCard(
  draft: Draft,
  item: OpenItem,
  state: PayloadIn<"card.show">["state"],
  decision?: { readonly decision: string; readonly by: string },
): void {
  draft.tell("zulip", "card.show", {
    conversation: item.conversation,
    itemId: item.id,
    version: item.version,
    kind: item.kind,
    state,
    tool: item.tool,
    trigger: item.origin.trigger,
    described: item.described,
    question: item.question?.text,
    suggestions: [...item.question?.suggestions ?? []],
    decision: decision?.decision,
    decidedBy: decision?.by,
    reactions: hasReactingPerson(draft.state, item),
  });
}

/** Decides an item in a person's name, or in that of what settled it after a change of policy by that person. */
export function claimItem(
  draft: Draft,
  item: OpenItem,
  body: DecisionBody,
  by: Decider,
  settled?: SettledBy,
): void {
  const stored: StoredDecision = settled
    ? { decision: body.decision, by: POLICY, surface: "system" }
    : { decision: body.decision, by: by.name, surface: by.surface };
  draft.op({
    op: "item.claim",
    id: item.id,
    version: item.version,
    decision: stored,
    decidedBy: settled ? "system" : identityOf(by),
    note: body.note,
  });
  draft.putItem({ ...item, claimed: true });
  draft.tell("approval", "approval.decide", { itemId: item.id, version: item.version, body, by, settled });
}

/** Offers a decided item again, in a new version, to everybody who may decide it. `note` tells them why. */
export function reopenItem(
  draft: Draft,
  item: OpenItem,
  { first, note }: { readonly first?: StoredApproval; readonly note?: string | undefined },
): void {
  draft.op({ op: "item.reopen", id: item.id, first, note });
  const again: OpenItem = {
    ...item,
    version: item.version + 2,
    claimed: false,
    edit: undefined,
    card: undefined,
    firstApproval: first ?? item.firstApproval,
  };
  draft.putItem(again);
  const { id: itemId, version } = again;
  draft.tell("approval", "approval.expire", { itemId, version }, { notBefore: item.expiresAt });
  armReminder(draft, again, 1);
  noteReach(draft, again);
  showCard(draft, again, "waiting");
  pushWaiting(draft, again, `asked/${itemId}/${version}`);
}

/** Ends an item. */
export function settleItem(
  draft: Draft,
  item: OpenItem,
  state: "applied" | "failed" | "expired" | "superseded" | "cancelled",
  options: {
    note?: string | undefined;
    undoUntil?: number | undefined;
    decision?: { readonly decision: string; readonly by: string } | undefined;
  } = {},
): void {
  draft.op({ op: "item.settle", id: item.id, state, note: options.note, undoUntil: options.undoUntil });
  draft.dropItem(item.id);
  showCard(draft, item, state, options.decision);
  pushSettled(draft, item);
}

/** Who decided, as the one text by which *the same person* is known. */
export function identityOf(by: Decider): string {
  return by.userId ?? (by.zulipUserId === undefined ? "system" : `zulip:${by.zulipUserId}`);
}

/** The open item of a call. */
export function itemOfCall(draft: Draft, callId: string): OpenItem | undefined {
  return [...draft.state.items.values()].find((item) => item.callId === callId);
}
