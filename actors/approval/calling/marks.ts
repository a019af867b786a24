/** What people did with an item without deciding it: on record, and told to whoever was asked. Proven by `escalation_test.ts`. */
import type { ItemMarked } from "../../protocol/marks.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";
import { tellPerson } from "./notify.ts";
import { mayAct } from "../deciding/rights.ts";
import { askedBy } from "../texts.ts";

/** A person put an item off or asked somebody else to decide it. */
export function onMarked(draft: Draft, { itemId, marked, by }: ItemMarked): void {
  const item = draft.state.items.get(itemId);
  if (!item || !mayAct(draft.state, by, item.origin.channelId)) return;
  const asked = marked.mark === "delegated" ? marked.userId : null;
  const person = draft.state.users.find(({ id }) => id === asked);
  draft.record({
    kind: "mark",
    itemId,
    callId: item.callId,
    conversation: item.conversation,
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: marked.mark === "later" ? "later" : asked === null ? "delegation_ended" : "delegated",
    digest: item.digest ?? null,
    body: marked.mark === "later"
      ? { until: marked.until, name: by.name }
      : { to: asked, toName: person?.name, name: by.name },
  });
  if (!person || person.id === by.userId) return;
  tellPerson(draft, item, person, {
    key: `delegated/${itemId}/${person.id}/${draft.state.head.seq}`,
    text: (who) => askedBy(item.kind, who, by.name),
  });
}
