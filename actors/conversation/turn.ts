/**
 * A turn from its first word to its one terminal record: `task_complete` or `turn_aborted`, never both, never none. At most one runs. Ending a
 * turn leaves history valid: every begun call has a result. The next queued input is started by `conversation.ts`, at one place.
 */
import type { AbortReason, EventInput } from "../../lib/conversation_event.ts";
import { cancelCalls, dropCalls } from "./calls.ts";
import type { Draft } from "./draft.ts";
import { noLive, type Turn } from "./state.ts";
import { answerTopic, isSilent, openTexts } from "./topic.ts";
import { abortMarker, failureMarker, result, suffix } from "./words.ts";

/** Begins the turn of a queued input. Its id is that of the message which brought the input. */
export function startTurn(draft: Draft, input: EventInput): void {
  const { state, env } = draft;
  draft.emit("task_started", {
    turnId: input.id,
    model: state.model ?? state.defaultModel,
    startedAt: env.now,
    mayBeSilent: !input.addressed || input.author.kind === "schedule",
    triggerId: input.triggerId,
  });
  draft.emit("user_message", { ...input, turnId: input.id, steered: false });
  draft.row({ turns: 1, preview: oneLine(input.text, 200) });
  draft.show(noLive);
  draft.send("approval", "tools.list", { turnId: input.id, profile: state.profile });
}

/** Ends a turn that reached its end. `early` says why it ended before the model was done. */
export function completeTurn(
  draft: Draft,
  turn: Turn,
  early?: { readonly code: string; readonly suffix: string },
): void {
  const silent = early === undefined && isSilent(turn);
  if (early) draft.emit("warning", { turnId: turn.id, code: early.code, message: early.suffix });
  complete(draft, turn, "complete", silent);
  answerTopic(draft, turn, { status: "complete", suffix: early?.suffix, silent });
}

/** Ends a turn with an error that people are told. The conversation stays usable. */
export function failTurn(
  draft: Draft,
  turn: Turn,
  failure: { readonly code: string; readonly message: string; readonly details?: string | undefined },
): void {
  dropCalls(draft, turn, result.notRun);
  draft.emit("error", { turnId: turn.id, ...failure, marker: failureMarker(failure.code) });
  complete(draft, turn, "failed", false);
  answerTopic(draft, turn, { status: "failed", suffix: suffix.failed(failure.message) });
}

/** Stops a turn at once. What people had seen of the answer stays. Whatever was under way is withdrawn; its late answers find no turn and change nothing. */
export function abortTurn(
  draft: Draft,
  turn: Turn,
  cut: { readonly reason: AbortReason; readonly by?: string | undefined },
): void {
  cancelCalls(draft, turn, { crashed: cut.reason === "crashed" });
  if (turn.phase === "sampling") {
    const at = { turnId: turn.id, step: turn.step, attempt: turn.attempt };
    for (const text of openTexts(draft.state, turn)) {
      draft.emit("agent_message", { ...at, text, partial: true });
    }
    draft.emit("item_completed", { ...at, status: "discarded" });
    // A retry that still waits for its time is taken out of the gateway's mailbox; a step that runs is stopped there.
    const delayed = turn.retryAt !== undefined && turn.retryAt > draft.env.now;
    draft.send(
      "models",
      "model.cancel",
      { turnId: turn.id },
      delayed ? { replaces: retryName(turn.id) } : {},
    );
  }
  const ended = draft.state.turn ?? turn;
  draft.emit("turn_aborted", {
    turnId: turn.id,
    reason: cut.reason,
    by: cut.by,
    completedAt: draft.env.now,
    durationMs: Math.max(0, draft.env.now - turn.startedAt),
    marker: abortMarker(cut.reason),
  });
  answerTopic(draft, ended, { status: "aborted", suffix: suffix.aborted[cut.reason] });
}

/** Under this name a delayed model step can be taken back. */
export function retryName(turnId: string): string {
  return `retry/${turnId}`;
}

function complete(draft: Draft, turn: Turn, status: "complete" | "failed", silent: boolean): void {
  const { env, state } = draft;
  const first = state.live.firstTokenAt;
  draft.emit("task_complete", {
    turnId: turn.id,
    status,
    lastAgentMessage: turn.texts.at(-1),
    completedAt: env.now,
    durationMs: Math.max(0, env.now - turn.startedAt),
    timeToFirstTokenMs: first === undefined ? undefined : Math.max(0, first - turn.startedAt),
    silent,
  });
}

/** The beginning of a text as one line, for lists. */
export function oneLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
