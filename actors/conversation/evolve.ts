/**
 * The fold: what each event of the log makes of a conversation. Total, pure and the only way in which durable state changes, live and on
 * restart alike; that both give the same state is proven by `conversation_model_test.ts`. It decides nothing and knows no message.
 */
import type {
  CallBegin,
  CallEnd,
  ConversationEvent,
  EventInput,
  EventUsage,
} from "../../lib/conversation_event.ts";
import { attemptKey, type Call, type ConversationState, type Entry, type Turn } from "./state.ts";

/**
 * Applies one event.
 *
 * @throws {RangeError} when `event.seq` does not follow the state's: the log is damaged.
 */
export function evolve(before: ConversationState, event: ConversationEvent): ConversationState {
  if (event.seq !== before.seq + 1) {
    throw new RangeError(`'event.seq' must be ${before.seq + 1}, received ${event.seq}`);
  }
  const state = { ...before, seq: event.seq };
  switch (event.type) {
    case "session_configured":
      return { ...state, session: event.payload };
    case "input_queued":
      return { ...state, queue: enqueue(state.queue, event.payload) };
    case "task_started":
      return { ...state, turn: newTurn(event.payload) };
    case "user_message":
      return {
        ...remember(state, {
          kind: "user",
          turnId: event.payload.turnId,
          inputId: event.payload.id,
          text: event.payload.text,
          author: event.payload.author,
          addressed: event.payload.addressed,
        }),
        queue: state.queue.filter((input) => input.id !== event.payload.id),
      };
    case "tools_listed":
      return inTurn(
        {
          ...state,
          tools: event.payload.tools ?? state.tools,
          instructions: event.payload.instructions ?? state.instructions,
        },
        (turn) => ({ model: event.payload.model ?? turn.model }),
      );
    case "agent_reasoning":
      return remember(state, { kind: "reasoning", ...said(event.payload) });
    case "agent_message":
      return inTurn(
        remember(state, { kind: "assistant", ...said(event.payload) }),
        (turn) => ({ texts: [...turn.texts, event.payload.text], spoke: true }),
      );
    case "step_started":
      return inTurn(state, (turn) => ({
        ...(event.payload.step === turn.step ? {} : { calls: [], retries: 0 }),
        phase: "sampling",
        step: event.payload.step,
        attempt: event.payload.attempt,
        retryAt: event.payload.notBefore,
        spoke: false,
      }));
    case "step_completed":
      return inTurn({ ...state, usage: addUsage(state.usage, event.payload.usage) }, () => ({
        phase: "executing",
        after: "next",
        retries: 0,
        stopReason: event.payload.stopReason,
        unreported: event.payload.usage,
      }));
    case "stream_error":
      return inTurn(state, () => ({
        phase: "executing",
        after: "retry",
        retries: event.payload.retry,
        retryAt: event.payload.retryAt,
      }));
    case "tool_call_begin":
    case "exec_command_begin":
    case "mcp_tool_call_begin":
    case "patch_apply_begin":
      return begin(state, event.payload);
    case "tool_call_proposed":
      return withCall(state, event.payload.callId, { state: "proposed", since: event.at });
    case "exec_approval_request":
      return withCall(state, event.payload.callId, { state: "waiting", waitsFor: "approval" });
    case "request_user_input":
    case "elicitation_request":
      return withCall(state, event.payload.callId, { state: "waiting", waitsFor: "answer" });
    case "request_resolved": {
      const { callId, by, changes } = event.payload;
      return withCall(state, callId, {
        state: "proposed",
        waitsFor: undefined,
        edited: changes && { by, changes },
      });
    }
    case "tool_call_end":
    case "exec_command_end":
    case "mcp_tool_call_end":
    case "patch_apply_end":
      return end(state, event.payload);
    case "token_count":
      return inTurn(state, () => ({ unreported: undefined }));
    case "nudge":
      return inTurn(
        event.payload.text === undefined ? state : context(state, event.payload.turnId, event.payload.text),
        (turn) => ({
          nudges: { ...turn.nudges, [event.payload.reason]: turn.nudges[event.payload.reason] + 1 },
        }),
      );
    case "error":
      return context(
        event.payload.code === "refusal" ? forget(state, event.payload.turnId) : state,
        event.payload.turnId,
        event.payload.marker,
      );
    case "task_complete":
      return { ...state, turn: undefined };
    case "turn_aborted":
      return {
        ...(event.payload.marker === undefined
          ? state
          : context(state, event.payload.turnId, event.payload.marker)),
        turn: undefined,
      };
    case "session_reset":
      return { ...state, history: [] };
    case "model_set":
      return { ...state, model: event.payload.model };
    case "item_completed":
    case "warning":
      return state;
    default:
      // A log written by a newer version may hold a type that this one does not know; it changes nothing here.
      event satisfies never;
      return state;
  }
}

/** A message that replaces the running turn goes first. */
function enqueue(queue: readonly EventInput[], input: EventInput): readonly EventInput[] {
  return input.mode === "start" ? [input, ...queue] : [...queue, input];
}

function newTurn(
  started: Extract<ConversationEvent, { type: "task_started" }>["payload"],
): Turn {
  return {
    id: started.turnId,
    model: started.model,
    startedAt: started.startedAt,
    mayBeSilent: started.mayBeSilent,
    triggerId: started.triggerId,
    phase: "listing",
    step: 0,
    attempt: 0,
    retries: 0,
    retryAt: undefined,
    after: "next",
    stopReason: "stop",
    unreported: undefined,
    calls: [],
    repeats: {},
    texts: [],
    spoke: false,
    nudges: { empty_response: 0, length: 0 },
  };
}

function said(
  payload: { turnId: string; step: number; attempt: number; text: string; signature?: string | undefined },
) {
  return {
    turnId: payload.turnId,
    step: attemptKey(payload),
    text: payload.text,
    signature: payload.signature,
  };
}

function begin(state: ConversationState, call: CallBegin): ConversationState {
  const key = repeatKey(call.tool, call.arguments);
  return inTurn(
    remember(state, {
      kind: "call",
      turnId: call.turnId,
      step: attemptKey(call),
      callId: call.callId,
      tool: call.tool,
      arguments: call.arguments,
      signature: call.signature,
    }),
    (turn) => ({
      calls: [...turn.calls, {
        callId: call.callId,
        modelCallId: call.modelCallId,
        tool: call.tool,
        arguments: call.arguments,
        attempt: call.attempt,
        state: "begun",
      }],
      repeats: { ...turn.repeats, [key]: (turn.repeats[key] ?? 0) + 1 },
    }),
  );
}

function end(state: ConversationState, call: CallEnd): ConversationState {
  const entry: Entry = {
    kind: "result",
    turnId: call.turnId,
    callId: call.callId,
    tool: call.tool,
    ok: call.outcome === "finished",
    text: call.text,
  };
  return withCall(remember(state, entry), call.callId, { state: "ended", waitsFor: undefined });
}

/** The key under which repeated calls are counted. */
export function repeatKey(tool: string, args: string): string {
  return `${tool}\n${args}`;
}

function remember(state: ConversationState, entry: Entry): ConversationState {
  return { ...state, history: [...state.history, entry] };
}

function context(state: ConversationState, turnId: string, text: string): ConversationState {
  return remember(state, { kind: "context", turnId, text });
}

/** A refused exchange would be refused again with every later step. */
function forget(state: ConversationState, turnId: string): ConversationState {
  return { ...state, history: state.history.filter((entry) => entry.turnId !== turnId) };
}

function inTurn(state: ConversationState, change: (turn: Turn) => Partial<Turn>): ConversationState {
  return state.turn ? { ...state, turn: { ...state.turn, ...change(state.turn) } } : state;
}

function withCall(state: ConversationState, callId: string, change: Partial<Call>): ConversationState {
  return inTurn(state, (turn) => ({
    calls: turn.calls.map((call) => call.callId === callId ? { ...call, ...change } : call),
  }));
}

function addUsage(a: EventUsage, b: EventUsage): EventUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}
