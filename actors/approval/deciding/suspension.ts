/**
 * The stop-everything switch: while it is on, what policy or a person allows is held back instead of being handed to the toolbox, durably, and goes
 * on its way when it is lifted. Decisions are taken and recorded all the same. It needs no list of its own: a held call is a row that may
 * run and has not begun. What was handed over before the switch comes back from the toolbox (`tool.held`), since no row moves to `executing`
 * meanwhile. A call may then be sent more than once; the toolbox begins it once, by the row's state.
 */
import { hiddenPatterns } from "../../../lib/policy/floor.ts";
import type { Decider } from "../../protocol/approval.ts";
import type { Grant } from "../../protocol/tools.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";

/** A call that may run. */
export interface Granted {
  readonly callId: string;
  readonly conversation: string;
  readonly grant: Grant;
}

/** Hands a call to the toolbox, or holds it back while everything is suspended. */
export function release(draft: Draft, call: Granted, notBefore?: number): void {
  const { callId, conversation } = call;
  if (draft.state.suspended) {
    hold(draft, call);
    return draft.tell("zulip", "topic.note", {
      conversation,
      key: `suspended/${callId}`,
      text:
        `Everything is suspended by ${draft.state.suspended.by}. A call that is allowed waits until that is lifted.`,
    });
  }
  run(draft, call, { dedupe: `run/${callId}`, ...(notBefore === undefined ? {} : { notBefore }) });
}

/** The toolbox gave back what it may not begin. The switch may have been lifted meanwhile. */
export function onHeld(draft: Draft, call: Granted): void {
  if (draft.state.suspended) return hold(draft, call);
  run(draft, call);
}

function hold(draft: Draft, call: Granted): void {
  draft.patch({ held: new Map(draft.state.held).set(call.callId, call) });
}

function run(
  draft: Draft,
  { callId, conversation, grant }: Granted,
  options: { readonly dedupe?: string; readonly notBefore?: number } = {},
): void {
  const hidden = [...hiddenPatterns(draft.state.rules, draft.env.now)];
  draft.tell("toolbox", "tool.run", { callId, conversation, grant, hidden }, options);
}

/** Forgets a held call that was withdrawn; the toolbox ends its row. */
export function dropHeld(draft: Draft, callId: string, conversation: string): void {
  if (draft.state.held.get(callId)?.conversation !== conversation) return;
  const held = new Map(draft.state.held);
  held.delete(callId);
  draft.patch({ held });
}

/** Turns the switch. Lifting it lets everything go that was held, in order. */
export function setSuspended(draft: Draft, suspended: boolean, by: Decider): void {
  if ((draft.state.suspended !== null) === suspended) return;
  const since = draft.state.suspended?.at;
  const state = suspended ? { by: by.name, at: draft.env.now } : null;
  draft.op({ op: "effects.suspend", state });
  draft.patch({ suspended: state });
  draft.record({
    kind: "policy",
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: suspended ? "effects.suspend" : "effects.resume",
    body: { by: by.name },
  });
  if (suspended) return;
  const held = [...draft.state.held.values()];
  draft.patch({ held: new Map() });
  for (const call of held) run(draft, call, { dedupe: `run/${call.callId}/${since}` });
}
