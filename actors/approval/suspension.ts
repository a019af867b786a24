/**
 * The stop-everything switch: while it is on, what policy or a person allows is held back instead of being handed to the toolbox, durably, and goes
 * on its way when it is lifted. Decisions are taken and recorded all the same. It needs no list of its own: a held call is a row that may
 * run and has not been sent, and `dedupe` keeps a call from being sent twice.
 */
import type { Decider } from "../protocol/approval.ts";
import type { Grant } from "../protocol/tools.ts";
import type { Draft } from "./draft.ts";
import { identityOf } from "./items.ts";

/** A call that may run. */
export interface Granted {
  readonly callId: string;
  readonly conversation: string;
  readonly grant: Grant;
}

/** Hands a call to the toolbox, or holds it back while everything is suspended. */
export function release(draft: Draft, call: Granted): void {
  const { callId, conversation } = call;
  if (draft.state.suspended) {
    draft.patch({ held: new Map(draft.state.held).set(callId, call) });
    return draft.tell("zulip", "topic.note", {
      conversation,
      key: `suspended/${callId}`,
      text:
        `Everything is suspended by ${draft.state.suspended.by}. A call that is allowed waits until that is lifted.`,
    });
  }
  draft.tell("toolbox", "tool.run", { callId, conversation, grant: call.grant }, { dedupe: `run/${callId}` });
}

/** Forgets a held call that was withdrawn; the toolbox ends its row. */
export function dropHeld(draft: Draft, callId: string): void {
  if (!draft.state.held.has(callId)) return;
  const held = new Map(draft.state.held);
  held.delete(callId);
  draft.patch({ held });
}

/** Turns the switch. Lifting it lets everything go that was held, in order. */
export function setSuspended(draft: Draft, suspended: boolean, by: Decider): void {
  if ((draft.state.suspended !== null) === suspended) return;
  const state = suspended ? { by: by.name, at: draft.env.now } : null;
  draft.op({ op: "effects.suspend", state });
  draft.patch({ suspended: state });
  draft.record({
    kind: "policy",
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: suspended ? "effects.suspend" : "effects.resume",
  });
  if (suspended) return;
  const held = [...draft.state.held.values()];
  draft.patch({ held: new Map() });
  for (const call of held) release(draft, call);
}
