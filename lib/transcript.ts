/**
 * A conversation's event log as people read it: turns with their items, and notes between them. Pure and incremental: fold committed events
 * with `applyEvent` in order of `seq` (repeats are ignored), and lay live pieces over them with `applyDelta`; a committed item takes the
 * place of its pieces. It knows no markup, no language and no network. Proven by `transcript_test.ts`.
 */
import type { ConversationEvent } from "./conversation_event.ts";
import type {
  CallItem,
  NoteItem,
  Transcript,
  TranscriptDelta,
  TranscriptItem,
  TurnView,
} from "./transcript_view.ts";

/** Before the first event. */
export const emptyTranscript: Transcript = {
  seq: 0,
  title: "",
  model: undefined,
  entries: [],
  queue: [],
  usage: undefined,
};

/** Folds a log, or the part of it that is newer than `from`. */
export function transcriptOf(events: readonly ConversationEvent[], from = emptyTranscript): Transcript {
  return events.reduce(applyEvent, from);
}

/** The turn that runs now. */
export function runningTurn(transcript: Transcript): TurnView | undefined {
  const last = transcript.entries.findLast((entry) => entry.kind === "turn");
  return last?.kind === "turn" && last.state === "running" ? last : undefined;
}

/** Applies one committed event; one that was applied before changes nothing. */
export function applyEvent(before: Transcript, event: ConversationEvent): Transcript {
  if (event.seq <= before.seq) return before;
  const view = { ...before, seq: event.seq };
  switch (event.type) {
    case "session_configured":
      return { ...view, title: event.payload.title };
    case "input_queued":
      return { ...view, queue: [...view.queue, event.payload] };
    case "task_started":
      return { ...view, entries: [...view.entries, newTurn(event.payload)] };
    case "user_message": {
      const { id, text, author, steered, turnId } = event.payload;
      const queue = view.queue.filter((input) => input.id !== id);
      return add({ ...view, queue }, turnId, { kind: "user", id, text, author, steered, at: event.at });
    }
    case "agent_message":
    case "agent_reasoning": {
      const { turnId, text } = event.payload;
      return add(withoutOpen(view, turnId), turnId, {
        kind: event.type === "agent_message" ? "assistant" : "reasoning",
        id: `${event.seq}`,
        text,
        open: false,
        partial: "partial" in event.payload && event.payload.partial === true,
        at: event.at,
      });
    }
    case "step_completed":
    case "item_completed":
      return withoutOpen(view, event.payload.turnId);
    case "tool_call_begin":
    case "exec_command_begin":
    case "mcp_tool_call_begin":
    case "patch_apply_begin": {
      const { callId, turnId, tool, arguments: args } = event.payload;
      const call = { kind: "call", id: callId, tool, arguments: args, state: "queued", output: "" } as const;
      return add(withoutOpen(view, turnId), turnId, { ...call, at: event.at });
    }
    case "tool_call_proposed":
      return changeCall(view, event.payload, { state: "running" });
    case "exec_approval_request":
      return changeCall(view, event.payload, waiting("approval", event.payload.itemId));
    case "request_user_input":
    case "elicitation_request":
      return changeCall(view, event.payload, waiting("answer", event.payload.itemId));
    case "request_resolved": {
      const { decision, by, changes } = event.payload;
      return changeCall(view, event.payload, {
        state: "running",
        waitsFor: undefined,
        decision: { decision, by },
        changes,
      });
    }
    case "tool_call_end":
    case "exec_command_end":
    case "mcp_tool_call_end":
    case "patch_apply_end": {
      const { outcome, text, exitCode, durationMs, allowed } = event.payload;
      const end = { outcome, result: text, exitCode, durationMs, allowed, waitsFor: undefined };
      return changeCall(view, event.payload, { state: "ended", ...end });
    }
    case "token_count":
      return { ...view, usage: event.payload.total };
    case "stream_error":
      return note(view, event, { level: "warning", code: "stream_error", text: event.payload.message });
    case "warning":
      return note(view, event, { level: "warning", code: event.payload.code, text: event.payload.message });
    case "error":
      return note(view, event, { level: "error", code: event.payload.code, text: event.payload.message });
    case "task_complete": {
      const { turnId, status, silent, completedAt } = event.payload;
      return changeTurn(view, turnId, () => ({ state: status, silent, endedAt: completedAt }));
    }
    case "turn_aborted": {
      const { turnId, reason, completedAt } = event.payload;
      return changeTurn(withoutOpen(view, turnId), turnId, () => ({
        state: "aborted",
        abortReason: reason,
        endedAt: completedAt,
      }));
    }
    case "session_reset":
      return note(view, event, { level: "info", code: "session_reset", text: event.payload.by });
    case "model_set": {
      const { model } = event.payload;
      return note({ ...view, model }, event, { level: "info", code: "model_set", text: model });
    }
    case "tools_listed":
    case "step_started":
    case "nudge":
      return view;
    default:
      // An event of a newer version: nothing that this reader could show.
      event satisfies never;
      return view;
  }
}

/** Lays a live piece over the running turn. A piece that does not fit on what is there, or comes late, is left out. */
export function applyDelta(view: Transcript, delta: TranscriptDelta): Transcript {
  if (runningTurn(view)?.id !== delta.turnId) return view;
  return changeTurn(view, delta.turnId, (turn) => ({ items: grown(turn.items, delta) }));
}

function grown(items: readonly TranscriptItem[], delta: TranscriptDelta): readonly TranscriptItem[] {
  const known = items.find((item) => item.id === delta.item);
  if (delta.kind === "output") {
    if (known?.kind !== "call" || known.state === "ended" || known.output.length !== delta.offset) {
      return items;
    }
    return items.map((item) => item === known ? { ...known, output: known.output + delta.text } : item);
  }
  const kind = delta.kind === "text" ? "assistant" : "reasoning";
  if (known === undefined) {
    if (delta.offset !== 0) return items;
    return [...items, { kind, id: delta.item, text: delta.text, open: true, partial: false, at: 0 }];
  }
  if (known.kind !== kind || known.text.length !== delta.offset) return items;
  return items.map((item) => item === known ? { ...known, text: known.text + delta.text } : item);
}

function newTurn(started: { turnId: string; model: string; startedAt: number }): TurnView {
  return {
    kind: "turn",
    id: started.turnId,
    model: started.model,
    state: "running",
    silent: false,
    startedAt: started.startedAt,
    items: [],
  };
}

function waiting(waitsFor: "approval" | "answer", itemId: string): Partial<CallItem> {
  return { state: "waiting", waitsFor, itemId };
}

function changeTurn(
  view: Transcript,
  turnId: string,
  change: (turn: TurnView) => Partial<TurnView>,
): Transcript {
  return {
    ...view,
    entries: view.entries.map((entry) =>
      entry.kind === "turn" && entry.id === turnId ? { ...entry, ...change(entry) } : entry
    ),
  };
}

function changeCall(
  view: Transcript,
  at: { readonly turnId: string; readonly callId: string },
  change: Partial<CallItem>,
): Transcript {
  return changeTurn(view, at.turnId, (turn) => ({
    items: turn.items.map((item) =>
      item.kind === "call" && item.id === at.callId ? { ...item, ...change } : item
    ),
  }));
}

function add(view: Transcript, turnId: string, item: TranscriptItem): Transcript {
  return changeTurn(view, turnId, (turn) => ({ items: [...turn.items, item] }));
}

/** What was growing is now committed, or void. */
function withoutOpen(view: Transcript, turnId: string): Transcript {
  return changeTurn(view, turnId, (turn) => ({
    items: turn.items.filter((item) => !("open" in item && item.open)),
  }));
}

/** A note belongs to its turn, or stands between turns. */
function note(
  view: Transcript,
  event: { readonly seq: number; readonly at: number; readonly payload: object },
  said: Pick<NoteItem, "level" | "code" | "text">,
): Transcript {
  const item: NoteItem = { kind: "note", id: `${event.seq}`, at: event.at, ...said };
  const turnId = "turnId" in event.payload ? event.payload.turnId : undefined;
  const known = view.entries.some((entry) => entry.kind === "turn" && entry.id === turnId);
  return known ? add(view, String(turnId), item) : { ...view, entries: [...view.entries, item] };
}
