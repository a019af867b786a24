/**
 * Handing on what nobody decides in time: to one person of the configured chain a round, each told where they read, and at the end the last resort.
 * In the quiet hours nobody is called: the call waits for their end; what ends an item does not. Proven by `escalation_test.ts`.
 */
import type { LoadedUser } from "../../../store/loads/approval.ts";
import type { ApprovalExpire } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";
import { tellPerson } from "./notify.ts";
import { afterQuietHours } from "./quiet_hours.ts";
import { waitFor } from "../judging/origin.ts";
import { mayAct, mayAllow } from "../deciding/rights.ts";
import type { ApprovalState, OpenItem } from "../state.ts";
import { escalatedTo } from "../texts.ts";

/**
 * Whether an item whose time is over goes on waiting, as a decision that is recorded. The compare-and-set is the row's: a person may have been
 * first.
 */
export function prolong(draft: Draft, item: OpenItem, { round, fixed }: ApprovalExpire): boolean {
  const { lastResort } = draft.state.gate;
  const { onExpiry } = waitFor(draft.state, item);
  if (fixed || onExpiry === "reject") return false;
  if (onExpiry === "park") return park(draft, item, round);
  const person = chainOf(draft.state, item)[round];
  if (person) return escalate(draft, item, round, person);
  return lastResort === "park" && park(draft, item, round);
}

/** Who is called, one a round: the people who are configured, else the owner; of them those who may allow it. */
function chainOf(state: ApprovalState, item: OpenItem): LoadedUser[] {
  const { gate: { escalateTo }, users } = state;
  const owner = users.find(({ role }) => role === "owner");
  const named = escalateTo.map((id) => users.find((user) => user.id === id));
  return (escalateTo.length > 0 ? named : [owner]).filter((user) => user !== undefined)
    .filter(({ id: userId }) =>
      mayAct(state, { userId }, item.origin.channelId) && mayAllow(state, item, { userId })
    );
}

function escalate(draft: Draft, item: OpenItem, round: number, person: LoadedUser): boolean {
  const { gate } = draft.state;
  const { id, version } = item;
  const morning = afterQuietHours(gate, draft.env.now);
  if (morning > draft.env.now) {
    draft.op({ op: "item.prolong", id, version, expiresAt: morning });
    return waitOn(draft, item, { round, until: morning });
  }
  const until = draft.env.now + waitFor(draft.state, item).expirySeconds * 1000;
  draft.op({ op: "item.escalate", id, version, expiresAt: until, to: person.id, round: round + 1 });
  record(draft, item, "escalated", { to: person.id, name: person.name, round: round + 1 });
  tellPerson(draft, item, person, {
    key: `escalate/${id}/${version}/${round + 1}`,
    text: (who) => escalatedTo(item.kind, who),
  });
  return waitOn(draft, item, { round: round + 1, until });
}

function park(draft: Draft, item: OpenItem, round: number): boolean {
  const { id, version } = item;
  const until = draft.env.now + waitFor(draft.state, item).expirySeconds * 1000;
  draft.op({ op: "item.prolong", id, version, expiresAt: until });
  record(draft, item, "parked", {});
  return waitOn(draft, item, { round: round + 1, until });
}

function waitOn(
  draft: Draft,
  item: OpenItem,
  next: { readonly round: number; readonly until: number },
): true {
  const { id: itemId, version } = item;
  const { round, until } = next;
  draft.putItem({ ...item, expiresAt: until });
  draft.tell("approval", "approval.expire", { itemId, version, round }, { notBefore: until });
  return true;
}

function record(
  draft: Draft,
  item: OpenItem,
  decision: "parked" | "escalated",
  body: Readonly<Record<string, unknown>>,
): void {
  const { id: itemId, callId, conversation } = item;
  const digest = item.digest ?? null;
  const system = { actor: "system", surface: "system" } as const;
  draft.record({ kind: "expiry", itemId, callId, conversation, ...system, decision, digest, body });
}
