/**
 * The builtin brain of one conversation: a pure, event-sourced actor. Each message is handled in one synchronous decision; nothing here waits
 * for a model, a tool or another actor. It promises: one turn at a time, exactly one terminal record a turn, one result a call, no accepted
 * input lost, and the same state after a restart at any point. It knows no provider, no policy, no row but through operations.
 * Proven by `conversation_test.ts`, `step_test.ts` (by case) and `conversation_model_test.ts` (by random histories).
 */
import type { Decision, Env, Envelope, PureActor } from "../../runtime/actor.ts";
import type { Message } from "../protocol.ts";
import { Draft } from "./draft.ts";
import { evolve } from "./evolve.ts";
import { liveAfterRestart, onModelDelta, onToolOutput } from "./live.ts";
import { onMessage, onReset, onSetModel, onStop } from "./people.ts";
import { onRequestFailed, onWoke } from "./runtime_says.ts";
import { type ConversationState, emptyState, type Loaded } from "./state.ts";
import { onModelFailed, onModelFinished } from "./step.ts";
import { onCallDecided, onCallWaiting, onToolResult, onToolsListed } from "./tools.ts";
import { showProgress } from "./topic.ts";
import { startTurn } from "./turn.ts";

/** The actor, as `runtime/pure_worker.ts` runs it. */
export const conversation: PureActor<ConversationState> = { restore, decide };

function restore(loaded: unknown, ref: string): ConversationState {
  // `store/loads/conversation.ts` wrote it for us; the log's shape is `lib/conversation_event.ts`.
  const { row, events, defaults } = loaded as Loaded;
  const state = events.reduce(evolve, emptyState(ref, { row, defaults }));
  return { ...state, live: liveAfterRestart(state) };
}

function decide(state: ConversationState, message: Envelope, env: Env): Decision<ConversationState> {
  const draft = new Draft(state, env);
  // The supervisor has parsed the payload against the catalogue and checked who may say it.
  handle(draft, message as Message);
  const next = draft.state.queue[0];
  if (!draft.state.turn && next) startTurn(draft, next);
  showProgress(draft);
  return draft.decision();
}

function handle(draft: Draft, message: Message): void {
  switch (message.type) {
    case "conversation.message":
      return onMessage(draft, message.payload, message.id);
    case "conversation.stop":
      return onStop(draft, message.payload);
    case "conversation.reset":
      return onReset(draft, message.payload);
    case "conversation.set_model":
      return onSetModel(draft, message.payload);
    case "tools.listed":
      return onToolsListed(draft, message.payload);
    case "model.delta":
      return onModelDelta(draft, message.payload);
    case "model.finished":
      return onModelFinished(draft, message.payload);
    case "model.failed":
      return onModelFailed(draft, message.payload);
    case "tool.output":
      return onToolOutput(draft, message.payload);
    case "tool.result":
      return onToolResult(draft, message.payload);
    case "call.waiting":
      return onCallWaiting(draft, message.payload);
    case "call.decided":
      return onCallDecided(draft, message.payload);
    case "actor.woke":
      return onWoke(draft, message.payload);
    case "request.failed":
      return onRequestFailed(draft, message.payload);
    default:
      throw new TypeError(`a conversation has no use for "${message.type}"`);
  }
}
