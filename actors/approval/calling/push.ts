/**
 * Telling people on their devices: whoever may decide an item hears that it waits, and those who heard hear when it is over. In the quiet hours no
 * device is woken: the message waits for their end, and is sent if the item still waits then. Without anybody who takes messages the gateway hears
 * nothing, and so it need not run. Proven by `push_test.ts`.
 */
import type { LoadedUser } from "../../../store/loads/approval.ts";
import type { PushSent } from "../../protocol/push.ts";
import type { Draft } from "../draft.ts";
import type { OpenItem } from "../state.ts";
import { afterQuietHours } from "./quiet_hours.ts";
import { entitledPeople } from "./reach.ts";

/** Tells everybody who may decide the item, once a key. */
export function pushWaiting(draft: Draft, item: OpenItem, key: string): void {
  pushTo(draft, item, entitledPeople(draft.state, item), key);
}

/** Tells these people, as far as they have a device that takes messages, once a key. */
export function pushTo(
  draft: Draft,
  item: OpenItem,
  people: readonly Pick<LoadedUser, "id" | "takesPush">[],
  key: string,
): void {
  const userIds = people.filter(({ takesPush }) => takesPush).map(({ id }) => id);
  if (userIds.length === 0) return;
  const { conversation, id: itemId, version } = item;
  const { now } = draft.env;
  const morning = afterQuietHours(draft.state.gate, now);
  draft.tell(
    "push",
    "push.item",
    { conversation, itemId, version, userIds, key },
    morning > now ? { notBefore: morning } : {},
  );
}

/** Tells whoever was told that the item is over. */
export function pushSettled(draft: Draft, item: OpenItem): void {
  if (!draft.state.users.some(({ takesPush }) => takesPush)) return;
  const { conversation, id: itemId, version } = item;
  draft.tell("push", "push.settled", { conversation, itemId, version });
}

/** A message about an item went to somebody's device. */
export function onPushSent(draft: Draft, { itemId }: PushSent): void {
  if (draft.state.items.has(itemId)) draft.op({ op: "item.reached", id: itemId });
}
