/**
 * Taking an allowance back: for a while after a person allowed a call of high risk it does not begin, so whoever tapped too fast can say so. The call
 * is handed over with a time before which the mailbox does not deliver it; what is taken back by then was never in the toolbox's hands.
 */
import { type Author, type Changed, FORBIDDEN_HERE, missing, recordChange } from "../policy/change_log.ts";
import type { Draft } from "../draft.ts";
import { originOf } from "../judging/origin.ts";
import { mayAct } from "./rights.ts";
import type { OpenItem } from "../state.ts";
import { takenBack } from "../texts.ts";

/** Taking back has to be committed before the call is delivered. */
const MARGIN_MS = 250;

/** Until when the call of an item can be taken back; undefined: it begins at once. Milliseconds since the epoch. */
export function undoUntil(draft: Draft, item: OpenItem): number | undefined {
  const { undoSeconds } = draft.state.gate;
  if (undoSeconds === 0 || item.described?.risk !== "high" || draft.state.suspended) return undefined;
  return draft.env.now + undoSeconds * 1000;
}

/** Remembers what can be taken back, and forgets what no longer can. */
export function rememberUndo(draft: Draft, item: OpenItem, until: number): void {
  const open = [...draft.state.undoable].filter(([, known]) => known.until > draft.env.now);
  const { callId, conversation } = item;
  draft.patch({ undoable: new Map(open).set(item.id, { callId, conversation, until }) });
}

/** A call that was withdrawn meanwhile is the toolbox's to end, and there is nothing left to take back. */
export function dropUndo(draft: Draft, callId: string, conversation: string): void {
  const left = [...draft.state.undoable].filter(([, known]) =>
    known.callId !== callId || known.conversation !== conversation
  );
  if (left.length < draft.state.undoable.size) draft.patch({ undoable: new Map(left) });
}

/** Takes it back, if its time has not come. */
export function undo(draft: Draft, itemId: string, by: Author): Changed {
  const known = draft.state.undoable.get(itemId);
  if (!known) return missing("There is nothing to take back");
  if (known.until - MARGIN_MS <= draft.env.now) {
    return { ok: false, code: "conflict", message: "The call has begun" };
  }
  const { callId, conversation } = known;
  if (by.role !== "owner" && !mayAct(draft.state, by, originOf(draft.state, conversation).channelId)) {
    return FORBIDDEN_HERE;
  }
  draft.op({ op: "call.move", callId, to: "rejected", outcome: "taken_back" });
  draft.op({ op: "item.undo", id: itemId, note: `Taken back by ${by.name}` });
  draft.tell(`conversation/${conversation}`, "tool.result", {
    callId,
    outcome: "rejected",
    text: takenBack(by.name),
  });
  const left = new Map(draft.state.undoable);
  left.delete(itemId);
  draft.patch({ undoable: left });
  recordChange(draft, by, "item.undo", { itemId, callId, conversation });
  return { ok: true, id: itemId };
}
