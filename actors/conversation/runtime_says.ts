/**
 * What the runtime says: that this incarnation has just woken, and that a request of ours came to nothing. A turn gets an answer either way
 * and never hangs.
 *
 * Waking asks for nothing to be sent again. Whatever an open turn waits for is a row that outlived this actor: the request in the other
 * actor's mailbox, or the answer in ours. Only when this very actor keeps dying is its turn given up.
 */
import type { PayloadOf } from "../protocol.ts";
import { endCall } from "./calls.ts";
import type { Draft } from "./draft.ts";
import { onModelFailed, settle } from "./step.ts";
import { abortTurn, failTurn } from "./turn.ts";
import { result } from "./words.ts";

/** Deaths in a row, with this actor as the suspect, that end its turn. */
const MAX_CRASHES = 2;

/** A new incarnation begins. */
export function onWoke(draft: Draft, woke: PayloadOf<"actor.woke">): void {
  if (draft.state.turn && woke.crashes >= MAX_CRASHES) {
    abortTurn(draft, draft.state.turn, { reason: "crashed" });
  }
}

/** A request of ours was refused or went to the dead letters. */
export function onRequestFailed(draft: Draft, failed: PayloadOf<"request.failed">): void {
  const turn = draft.state.turn;
  switch (failed.type) {
    case "tools.list":
      if (turn && turn.id === failed.turnId && turn.phase === "listing") {
        const message = `it could not be learnt which tools may be used (${failed.message})`;
        failTurn(draft, turn, { code: failed.code, message });
      }
      return;
    case "model.stream":
      if (turn && turn.id === failed.turnId) {
        const { step, attempt } = turn;
        const error = {
          class: mayPass(failed.code) ? "transient" : "fatal",
          message: failed.message,
        } as const;
        onModelFailed(draft, { turnId: turn.id, step, attempt, error, items: [] });
      }
      return;
    case "tool.propose":
      if (
        failed.callId !== undefined &&
        endCall(draft, failed.callId, { outcome: "failed", text: result.refused(failed.message) })
      ) settle(draft);
      return;
    default:
      if (draft.state.session) {
        const message = `"${failed.type}" was not carried out: ${failed.message}`;
        draft.emit("warning", { turnId: failed.turnId, code: failed.code, message });
      }
  }
}

function mayPass(code: string): boolean {
  return code === "mailbox_full" || code === "unavailable" || code === "timeout";
}
