/**
 * Telling one person that an item waits for them: on their devices, and in the item's topic, by a mention where Zulip knows them, else in a message to them alone, when the
 * item stands in no channel. Somebody who is not linked reads it in the inbox. Proven by `escalation_test.ts` and `zulip/gateway_test.ts`.
 */
import type { LoadedUser } from "../../../store/loads/approval.ts";
import type { Draft } from "../draft.ts";
import type { OpenItem } from "../state.ts";
import { pushTo } from "./push.ts";

/** Tells them once a key. `text` is given how the person is called where it will stand. */
export function tellPerson(
  draft: Draft,
  item: OpenItem,
  person: Pick<LoadedUser, "id" | "name" | "zulipUserId" | "takesPush">,
  { key, text }: { readonly key: string; readonly text: (who: string) => string },
): void {
  const { conversation, id: itemId } = item;
  const { zulipUserId } = person;
  pushTo(draft, item, [person], key);
  const isHeardThere = item.origin.source === "channel" && zulipUserId !== null;
  const who = isHeardThere ? `@**|${zulipUserId}**` : plain(person.name);
  draft.tell("zulip", "topic.note", { conversation, key, text: text(who) });
  if (zulipUserId === null || isHeardThere) return;
  draft.tell("zulip", "person.note", { zulipUserId, itemId, key, text: text("you") });
}

/** A name is not ours: it makes no mention and no markup. */
function plain(name: string): string {
  return name.replace(/[*_`~@#[\]<>|\n]/g, "");
}
