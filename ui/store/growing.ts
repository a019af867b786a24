/**
 * Pieces of answers, reasoning and tool output that are still growing, placed by their offset, and dropped when the log has the whole thing. Names
 * of pieces are `turn.step.attempt.index` for what a model writes and the call's id for output. Pure. Proven by `store_test.ts`.
 */
import type { ConversationEvent, Delta } from "../../edge/api.ts";

/** A piece that is still growing. `broken`: a part was missed, the rest is not shown. */
export interface Growing {
  readonly turnId: string;
  readonly item: string;
  readonly kind: Delta["kind"];
  readonly text: string;
  readonly broken: boolean;
}

/** Pieces by name, in the order in which they began. */
export type GrowingPieces = ReadonlyMap<string, Growing>;

/** The pieces with `delta` placed. A repeat overwrites itself; a gap breaks the piece until the log replaces it. */
export function placeDelta(growing: GrowingPieces, delta: Delta): GrowingPieces {
  const known = growing.get(delta.item);
  if (known?.broken) return growing;
  const text = known?.text ?? "";
  const broken = delta.offset > text.length;
  return new Map(growing).set(delta.item, {
    turnId: delta.turnId,
    item: delta.item,
    kind: delta.kind,
    text: broken ? text : text.slice(0, delta.offset) + delta.text,
    broken,
  });
}

/** The pieces that `event` does not replace. */
export function withoutCommitted(growing: GrowingPieces, event: ConversationEvent): GrowingPieces {
  if (growing.size === 0) return growing;
  const attempt = `${fieldOf(event, "turnId")}.${fieldOf(event, "step")}.${fieldOf(event, "attempt")}.`;
  switch (event.type) {
    case "agent_message":
      return dropFirst(growing, (piece) => piece.kind === "text" && piece.item.startsWith(attempt));
    case "agent_reasoning":
      return dropFirst(growing, (piece) => piece.kind === "reasoning" && piece.item.startsWith(attempt));
    case "step_completed":
    case "stream_error":
    case "item_completed":
      return kept(growing, (piece) => !piece.item.startsWith(attempt));
    case "tool_call_end":
    case "exec_command_end":
    case "mcp_tool_call_end":
    case "patch_apply_end":
      return kept(growing, (piece) => piece.item !== fieldOf(event, "callId"));
    case "task_complete":
    case "turn_aborted":
      return kept(growing, (piece) => piece.turnId !== fieldOf(event, "turnId"));
    default:
      return growing;
  }
}

/** A field of an event's payload. */
export function fieldOf({ payload }: ConversationEvent, name: string): unknown {
  return typeof payload === "object" && payload !== null ? Reflect.get(payload, name) : undefined;
}

function kept(growing: GrowingPieces, keep: (piece: Growing) => boolean): GrowingPieces {
  return new Map([...growing].filter(([, piece]) => keep(piece)));
}

/** Without the earliest piece of the model's answer that fits: the log commits them in the order of their index. */
function dropFirst(growing: GrowingPieces, fits: (piece: Growing) => boolean): GrowingPieces {
  const index = (piece: Growing) => Number(piece.item.slice(piece.item.lastIndexOf(".") + 1));
  const [first] = [...growing.values()].filter(fits).sort((a, b) => index(a) - index(b));
  return first ? kept(growing, (piece) => piece !== first) : growing;
}
