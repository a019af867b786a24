/**
 * Model steps: ask, take the one answer, carry out its calls, and ask again until there is nothing to follow up. A failed attempt is tried
 * again with the history as it then is; what it had completed is kept, what was open is discarded. An answer counts only for the attempt that
 * waits for it, so late and repeated ones change nothing.
 */
import type { ModelItem } from "../protocol/model.ts";
import type { PayloadOf } from "../protocol.ts";
import { beginCall, callsOf, dropCalls, isLooping, LOOP_CALLS, proposeCalls } from "./calls.ts";
import type { Draft } from "./draft.ts";
import { modelRequest } from "./prompt.ts";
import { MAX_RETRIES, retryDelayMs } from "./retry.ts";
import { attemptKey, openCalls, presentAttempt, type Turn } from "./state.ts";
import { completeTurn, failTurn, oneLine, retryName } from "./turn.ts";
import { failureText, nudge, result, suffix } from "./words.ts";

/** Model steps of one turn. */
export const MAX_STEPS = 50;

/** Asks for a step. What people wrote to the running turn is put in front of it. */
export function askModel(
  draft: Draft,
  turn: Turn,
  at: { readonly step: number; readonly attempt: number; readonly notBefore?: number | undefined },
): void {
  for (const input of draft.state.queue.filter((input) => input.mode === "steer")) {
    draft.emit("user_message", { ...input, turnId: turn.id, steered: true });
  }
  const delayed = at.notBefore !== undefined && at.notBefore > draft.env.now;
  const notBefore = delayed ? at.notBefore : undefined;
  draft.emit("step_started", { turnId: turn.id, step: at.step, attempt: at.attempt, notBefore });
  draft.send(
    "models",
    "model.stream",
    modelRequest(draft.state, turn, at),
    notBefore === undefined ? {} : { notBefore, replaces: retryName(turn.id) },
  );
}

/** The step is complete. */
export function onModelFinished(draft: Draft, finished: PayloadOf<"model.finished">): void {
  if (!awaited(draft, finished)) return;
  const { usage, stopReason, servedModel, ...rest } = finished;
  const at = attemptOf(rest);
  recordItems(draft, finished.items, at);
  draft.emit("step_completed", { ...at, stopReason, usage, servedModel });
  draft.row({
    inputTokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    costUsd: usage.costUsd,
  });
  settle(draft);
}

/** The attempt failed: again after a while, or the end of the turn. */
export function onModelFailed(
  draft: Draft,
  failed: Pick<PayloadOf<"model.failed">, "turnId" | "step" | "attempt" | "error" | "items">,
): void {
  const turn = awaited(draft, failed);
  if (!turn) return;
  const at = attemptOf(failed);
  const { error } = failed;
  recordItems(draft, failed.items, at);
  draft.emit("item_completed", { ...at, status: "discarded" });
  const retry = turn.retries + 1;
  const delayMs = retryDelayMs(error, retry, attemptKey(at));
  if (delayMs === undefined) {
    const exhausted = retry > MAX_RETRIES && error.class !== "refusal";
    const code = exhausted ? "too_many_attempts" : error.class;
    const details = oneLine(error.message, 1000);
    return failTurn(draft, draft.state.turn ?? turn, { code, message: failureText(code, details), details });
  }
  draft.emit("stream_error", {
    ...at,
    message: `Reconnecting ${retry}/${MAX_RETRIES}`,
    details: oneLine(error.message, 1000),
    retry,
    retryAt: draft.env.now + delayMs,
  });
  settle(draft);
}

/** Goes on as far as the turn can go now: sends off calls, or asks the model, or ends the turn. */
export function settle(draft: Draft): void {
  const turn = draft.state.turn;
  if (!turn || turn.phase !== "executing") return;
  if (isLooping(turn)) {
    dropCalls(draft, turn, result.loop);
    const message = `the model made the same call ${LOOP_CALLS} times in one turn; the turn was ended`;
    return failTurn(draft, draft.state.turn ?? turn, { code: "loop_guard", message });
  }
  if (openCalls(turn).length > 0) return proposeCalls(draft, turn);
  if (turn.unreported) {
    draft.emit("token_count", {
      turnId: turn.id,
      last: turn.unreported,
      total: draft.state.usage,
    });
  }
  if (turn.after === "retry") {
    return askModel(draft, turn, { step: turn.step, attempt: turn.attempt + 1, notBefore: turn.retryAt });
  }
  followUp(draft, turn);
}

/** What comes after a completed step. */
function followUp(draft: Draft, turn: Turn): void {
  const again = () => askModel(draft, turn, { step: turn.step, attempt: turn.attempt + 1 });
  if (turn.stopReason === "refusal") {
    return failTurn(draft, turn, { code: "refusal", message: failureText("refusal", "it gave no reason") });
  }
  if (callsOf(turn, turn.attempt).length > 0) return nextStep(draft, turn);
  if (!turn.spoke && !turn.mayBeSilent) {
    const asked = turn.nudges.empty_response;
    if (asked >= 2) return completeTurn(draft, turn, { code: "empty_response", suffix: suffix.empty });
    const text = asked === 0 ? undefined : nudge.empty_response;
    draft.emit("nudge", { turnId: turn.id, reason: "empty_response", text });
    return asked === 0 ? again() : nextStep(draft, turn);
  }
  if (turn.stopReason === "length") {
    if (turn.nudges.length > 0) return completeTurn(draft, turn, { code: "length", suffix: suffix.length });
    draft.emit("nudge", { turnId: turn.id, reason: "length", text: nudge.length });
    return nextStep(draft, turn);
  }
  if (draft.state.queue.some((input) => input.mode === "steer")) return nextStep(draft, turn);
  completeTurn(draft, turn);
}

function nextStep(draft: Draft, turn: Turn): void {
  if (turn.step + 1 >= MAX_STEPS) {
    return completeTurn(draft, turn, { code: "max_turn_requests", suffix: suffix.steps(MAX_STEPS) });
  }
  askModel(draft, turn, { step: turn.step + 1, attempt: 0 });
}

/** Puts a model's completed items into the log, in their order. */
function recordItems(
  draft: Draft,
  items: readonly ModelItem[],
  at: { turnId: string; step: number; attempt: number },
): void {
  for (const item of items) {
    switch (item.type) {
      case "reasoning":
        draft.emit("agent_reasoning", { ...at, text: item.text, signature: item.signature });
        break;
      case "assistant":
        if (item.text.trim() !== "") {
          draft.emit("agent_message", { ...at, text: item.text, signature: item.signature });
        }
        break;
      case "tool_call":
        beginCall(draft, item, at);
        break;
      default:
        item satisfies never;
    }
  }
}

/** The running turn, if this is the answer that it waits for. */
function awaited(draft: Draft, at: { turnId: string; step: number; attempt: number }): Turn | undefined {
  const turn = draft.state.turn;
  if (!turn || turn.phase !== "sampling") return undefined;
  return attemptKey(at) === presentAttempt(turn) ? turn : undefined;
}

function attemptOf(at: { turnId: string; step: number; attempt: number }) {
  return { turnId: at.turnId, step: at.step, attempt: at.attempt };
}
