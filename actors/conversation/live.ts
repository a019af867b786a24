/**
 * What viewers see while it happens: pieces of the model's text and of tool output, handed on with their place. Nothing here is committed. A
 * piece that cannot be placed, because one before it was lost or a restart came between, is not shown: the completed item has it all.
 */
import type { PayloadOf } from "../protocol.ts";
import type { Draft } from "./draft.ts";
import { attemptKey, type ConversationState, type Live, noLive, openCalls, presentAttempt } from "./state.ts";

/** A piece of the model's answer. Pieces of another attempt, and repeated ones, are ignored. */
export function onModelDelta(draft: Draft, delta: PayloadOf<"model.delta">): void {
  const { turn, live } = draft.state;
  const key = attemptKey(delta);
  if (!turn || turn.phase !== "sampling" || key !== presentAttempt(turn)) return;
  const present: Pick<Live, "step" | "nextSeq" | "items"> = live.step === key
    ? live
    : { step: key, nextSeq: 0, items: [] };
  if (present.nextSeq === -1 || delta.seq < present.nextSeq) return;
  if (delta.seq > present.nextSeq) return draft.show({ step: key, nextSeq: -1, items: present.items });
  const kind = delta.kind;
  const firstTokenAt = live.firstTokenAt ?? draft.env.now;
  if (kind === "tool_input") {
    return draft.show({ step: key, nextSeq: delta.seq + 1, items: present.items, firstTokenAt });
  }
  const known = present.items.find((item) => item.index === delta.index);
  const item = { index: delta.index, kind, text: (known?.text ?? "") + delta.delta };
  draft.show({
    step: key,
    nextSeq: delta.seq + 1,
    items: [...present.items.filter((other) => other.index !== delta.index), item],
    firstTokenAt,
  });
  draft.send("edge", "live.delta", {
    turnId: delta.turnId,
    item: `${key}.${delta.index}`,
    kind,
    offset: known?.text.length ?? 0,
    text: delta.delta,
  });
}

/** A piece of a running call's output. */
export function onToolOutput(draft: Draft, output: PayloadOf<"tool.output">): void {
  const { turn, live } = draft.state;
  if (!turn || !openCalls(turn).some((call) => call.callId === output.callId)) return;
  const offset = live.outputs[output.callId] ?? 0;
  if (offset === -1) return;
  draft.show({ outputs: { ...live.outputs, [output.callId]: offset + output.chunk.length } });
  draft.send("edge", "live.delta", {
    turnId: turn.id,
    item: output.callId,
    kind: "output",
    offset,
    text: output.chunk,
  });
}

/** What a restarted actor knows of what viewers saw: for calls that are under way, not where their next piece belongs. */
export function liveAfterRestart(state: ConversationState): Live {
  const open = state.turn ? openCalls(state.turn).filter((call) => call.state !== "begun") : [];
  return { ...noLive, outputs: Object.fromEntries(open.map((call) => [call.callId, -1])) };
}
