/** Parked conversations as items of their own kind: the inbox says why, and the button that restarts the actor settles the item. */
import type { RestartDone, RestartWanted } from "../../protocol/approval.ts";
import type { Draft } from "../draft.ts";

/** A conversation crashed too often. One item stands for it until it is restarted. */
export function onRestartWanted(draft: Draft, { conversation, reason }: RestartWanted): void {
  if (draft.state.restarts.has(conversation)) return;
  const id = draft.env.newId();
  draft.op({
    op: "item.create",
    id,
    kind: "restart",
    conversation,
    question: { text: reason, suggestions: [] },
  });
  draft.patch({ restarts: new Map(draft.state.restarts).set(conversation, id) });
}

/** It was restarted, by whatever button. */
export function onRestartDone(draft: Draft, { conversation }: RestartDone): void {
  const id = draft.state.restarts.get(conversation);
  if (id === undefined) return;
  draft.op({ op: "item.settle", id, state: "applied" });
  const restarts = new Map(draft.state.restarts);
  restarts.delete(conversation);
  draft.patch({ restarts });
}
