/**
 * The event log of a conversation, as types: it is the transcript that people see, what a restart rebuilds the actor from, and what viewers
 * follow. The names are the field's own (`task_started` … `task_complete`). Types only, no code and no I/O, so that the actor, the edge and
 * the browser share them. A type or an optional field may be added; a meaning never changes, since old logs are read for ever.
 * `actors/conversation/evolve.ts` and `lib/transcript.ts` are its two readers.
 */

/** Who wrote something. */
export interface EventAuthor {
  readonly kind: "zulip" | "web" | "schedule";
  readonly id: string;
  readonly name: string;
}

/** Where a conversation is shown. */
export type EventSource = { readonly kind: "web" } | {
  readonly kind: "zulip";
  readonly realm: string;
  readonly channelId?: number | undefined;
  readonly channel?: string | undefined;
  readonly topic?: string | undefined;
  readonly userIds?: readonly number[] | undefined;
};

/** Words that wait for their turn, or for the running turn's next step (`steer`). `id` is that of the message that brought them. */
export interface EventInput {
  readonly id: string;
  readonly text: string;
  readonly author: EventAuthor;
  readonly mode: "queue" | "steer" | "start";
  /** False: nobody called the bot by name, so the turn may stay silent. */
  readonly addressed: boolean;
  /** The Zulip message. */
  readonly triggerId?: number | undefined;
}

/** A tool as it is offered to the model. */
export interface EventTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly parallel: boolean;
}

/** Tokens and US dollars. */
export interface EventUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
}

/** Names the attempt at a model step that produced something. */
interface AtAttempt {
  readonly turnId: string;
  readonly step: number;
  readonly attempt: number;
}

/** A tool call that the model has asked for. `arguments` is the JSON text as the model wrote it. */
export interface CallBegin extends AtAttempt {
  readonly callId: string;
  readonly modelCallId: string;
  readonly tool: string;
  readonly arguments: string;
  readonly signature?: string | undefined;
}

/** How a call ended. `text` is what the model is shown. */
export interface CallEnd {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly outcome: CallOutcome;
  readonly text: string;
  readonly exitCode?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly allowed?: CallAllowed | undefined;
}

/** What let a call run: a rule, the read fast path, a profile, a bypass (by their ids), or a person's decision (by the item's). */
export interface CallAllowed {
  readonly by: "rule" | "fast_path" | "profile" | "bypass" | "decision";
  readonly ref: string;
}

/** An argument that a person changed before they allowed a call; the values are JSON text, cut. Absent: not there before or after. */
export interface ArgumentChange {
  readonly name: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Only `finished` is a success. */
export type CallOutcome =
  | "finished"
  | "failed"
  | "invalid"
  | "rejected"
  | "expired"
  | "cancelled"
  | "unknown";

/** A call waits for a person. */
export interface RequestRaised {
  readonly turnId: string;
  readonly callId: string;
  readonly itemId: string;
}

/** Why a turn was cut short. */
export type AbortReason = "interrupted" | "replaced" | "crashed";

/** The four families of call events differ in name only. */
export type CallBeginType =
  | "tool_call_begin"
  | "exec_command_begin"
  | "mcp_tool_call_begin"
  | "patch_apply_begin";
/** See `CallBeginType`. */
export type CallEndType = "tool_call_end" | "exec_command_end" | "mcp_tool_call_end" | "patch_apply_end";

/** Payload by event type. Times are milliseconds since the epoch. */
export interface EventPayloads {
  /** First of all, and again whenever the title changes. */
  session_configured: { readonly title: string; readonly source: EventSource };
  /** An input was accepted; exactly one `user_message` follows some time. */
  input_queued: EventInput;
  task_started: {
    readonly turnId: string;
    readonly model: string;
    readonly startedAt: number;
    /** Nobody called the agent by name, or a schedule started it: it may decline to answer. */
    readonly mayBeSilent: boolean;
    readonly triggerId?: number | undefined;
  };
  user_message: EventInput & { readonly turnId: string; readonly steered: boolean };
  /** What the turn may use. `tools` and `instructions` are left out when they are those of the turn before; `model`: the profile's. */
  tools_listed: {
    readonly turnId: string;
    readonly tools?: readonly EventTool[] | undefined;
    readonly model?: string | undefined;
    readonly instructions?: string | undefined;
  };
  /** A model is asked; not before `notBefore`. */
  step_started: AtAttempt & { readonly notBefore?: number | undefined };
  agent_reasoning: AtAttempt & { readonly text: string; readonly signature?: string | undefined };
  /** `partial`: the turn was cut while the model still wrote; this is what people had seen of it. */
  agent_message: AtAttempt & {
    readonly text: string;
    readonly signature?: string | undefined;
    readonly partial?: boolean | undefined;
  };
  /** The model stopped by itself; its calls, if any, begin with this step's `*_begin` events. */
  step_completed: AtAttempt & {
    readonly stopReason: "stop" | "tool_use" | "length" | "refusal";
    readonly usage: EventUsage;
    readonly servedModel?: string | undefined;
  };
  /** The attempt failed and is tried again at `retryAt`, when its completed calls have ended. */
  stream_error: AtAttempt & {
    readonly message: string;
    readonly details: string;
    readonly retry: number;
    readonly retryAt: number;
  };
  /** Whatever of this attempt viewers saw growing and got no event of its own is void. */
  item_completed: AtAttempt & { readonly status: "discarded" };
  tool_call_begin: CallBegin;
  exec_command_begin: CallBegin;
  mcp_tool_call_begin: CallBegin;
  patch_apply_begin: CallBegin;
  /** The call is on its way to be described, judged and run. */
  tool_call_proposed: { readonly turnId: string; readonly callId: string };
  exec_approval_request: RequestRaised;
  request_user_input: RequestRaised;
  elicitation_request: RequestRaised;
  request_resolved: RequestRaised & {
    readonly decision: string;
    readonly by: string;
    /** After `edit_and_allow`. */
    readonly changes?: readonly ArgumentChange[] | undefined;
  };
  tool_call_end: CallEnd;
  exec_command_end: CallEnd;
  mcp_tool_call_end: CallEnd;
  patch_apply_end: CallEnd;
  /** Comes when the step's calls have ended. `total` is the whole conversation's. */
  token_count: { readonly turnId: string; readonly last: EventUsage; readonly total: EventUsage };
  /** The loop asks the model once more, by itself. `text` is absent for a silent repeat. */
  nudge: {
    readonly turnId: string;
    readonly reason: "empty_response" | "length";
    readonly text?: string | undefined;
  };
  warning: { readonly turnId?: string | undefined; readonly code: string; readonly message: string };
  /** The turn fails; `task_complete` follows. `marker` is what later steps' models read of it. */
  error: {
    readonly turnId: string;
    readonly code: string;
    readonly message: string;
    readonly details?: string | undefined;
    readonly marker: string;
  };
  task_complete: {
    readonly turnId: string;
    readonly status: "complete" | "failed";
    readonly lastAgentMessage?: string | undefined;
    readonly completedAt: number;
    readonly durationMs: number;
    readonly timeToFirstTokenMs?: number | undefined;
    /** The agent chose to say nothing. */
    readonly silent: boolean;
  };
  turn_aborted: {
    readonly turnId: string;
    readonly reason: AbortReason;
    readonly by?: string | undefined;
    readonly completedAt: number;
    readonly durationMs: number;
    readonly marker?: string | undefined;
  };
  /** History is set aside: later steps begin with an empty one. */
  session_reset: { readonly by: string };
  /** Counts from the next turn. */
  model_set: { readonly model: string; readonly by: string };
}

/** The name of an event. */
export type ConversationEventType = keyof EventPayloads;

/** One line of the log; `seq` rises by one from 1. */
export type ConversationEvent = {
  [T in ConversationEventType]: {
    readonly seq: number;
    readonly type: T;
    readonly payload: EventPayloads[T];
    readonly at: number;
  };
}[ConversationEventType];
