/**
 * What a conversation knows. All of it but `live`, `shownStatus` and `profile` is the fold of its event log (`evolve.ts`), so a restart rebuilds
 * it exactly; `live` is what viewers are being shown at this moment and may be lost. Plain data, never changed in place.
 */
import type {
  ArgumentChange,
  ConversationEvent,
  EventAuthor,
  EventInput,
  EventSource,
  EventTool,
  EventUsage,
} from "../../lib/conversation_event.ts";

/** One thing a model may be told of. `step` names the attempt at a model step that produced it. */
export type Entry =
  | {
    readonly kind: "user";
    readonly turnId: string;
    readonly inputId: string;
    readonly text: string;
    readonly author: EventAuthor;
    readonly addressed: boolean;
  }
  | { readonly kind: "context"; readonly turnId: string; readonly text: string }
  | {
    readonly kind: "assistant" | "reasoning";
    readonly turnId: string;
    readonly step: string;
    readonly text: string;
    readonly signature?: string | undefined;
  }
  | {
    readonly kind: "call";
    readonly turnId: string;
    readonly step: string;
    readonly callId: string;
    readonly tool: string;
    readonly arguments: string;
    readonly signature?: string | undefined;
  }
  | {
    readonly kind: "result";
    readonly turnId: string;
    readonly callId: string;
    readonly tool: string;
    readonly ok: boolean;
    readonly text: string;
  };

/** A call of the present step. `begun` has not left the conversation yet. */
export interface Call {
  readonly callId: string;
  /** As the model named it; may repeat. */
  readonly modelCallId: string;
  readonly tool: string;
  readonly arguments: string;
  readonly attempt: number;
  readonly state: "begun" | "proposed" | "waiting" | "ended";
  /** What it waits for, while `waiting`. */
  readonly waitsFor?: "approval" | "answer" | undefined;
  /** A person changed its arguments before they allowed it. */
  readonly edited?: { readonly by: string; readonly changes: readonly ArgumentChange[] } | undefined;
  /** When it was proposed, milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** Where a turn stands: waiting for its tools, for the model, or for its calls. */
export type Phase = "listing" | "sampling" | "executing";

/** The running turn. */
export interface Turn {
  readonly id: string;
  readonly model: string;
  readonly startedAt: number;
  readonly mayBeSilent: boolean;
  readonly triggerId: number | undefined;
  readonly phase: Phase;
  readonly step: number;
  readonly attempt: number;
  /** Failed attempts of this step. */
  readonly retries: number;
  /** The model is not asked before this time, milliseconds since the epoch. */
  readonly retryAt: number | undefined;
  /** What happens when no call is open any more: the same step again, or what follows a completed step. */
  readonly after: "retry" | "next";
  readonly stopReason: "stop" | "tool_use" | "length" | "refusal";
  /** Tokens of the completed step, until they are reported. */
  readonly unreported: EventUsage | undefined;
  /** Every call of this step, in the order in which the model made them. */
  readonly calls: readonly Call[];
  /** How often each call (tool and arguments) was made in this turn. */
  readonly repeats: Readonly<Record<string, number>>;
  /** What the agent has said so far, one text per message. */
  readonly texts: readonly string[];
  /** Whether the present attempt said anything. */
  readonly spoke: boolean;
  readonly nudges: { readonly empty_response: number; readonly length: number };
}

/** Pieces of items that are not complete yet, and what was last shown of them. */
export interface Live {
  /** The attempt that the pieces belong to (`attemptKey`). */
  readonly step: string;
  /** The next delta's number; -1 after one was missed, when nothing can be placed any more. */
  readonly nextSeq: number;
  readonly items: readonly {
    readonly index: number;
    readonly kind: "text" | "reasoning";
    readonly text: string;
  }[];
  /** Output seen of each running call, in UTF-16 units; -1 when its beginning was missed. */
  readonly outputs: Readonly<Record<string, number>>;
  readonly firstTokenAt: number | undefined;
  /** What the topic was last shown of the running turn. */
  readonly shown: { readonly version: number; readonly length: number; readonly status: string };
}

/** The row's status as this actor may set it. */
export type RowStatus = "idle" | "running" | "waiting";

/** A conversation. */
export interface ConversationState {
  /** The part of the ref after the slash. */
  readonly id: string;
  readonly seq: number;
  readonly defaultModel: string;
  /** As the row named it when this actor began. */
  readonly profile: string | undefined;
  readonly session: { readonly title: string; readonly source: EventSource } | undefined;
  /** The model that a person chose. */
  readonly model: string | undefined;
  readonly tools: readonly EventTool[];
  /** The profile's own, for the system prompt; empty: none. */
  readonly instructions: string;
  readonly history: readonly Entry[];
  readonly queue: readonly EventInput[];
  readonly turn: Turn | undefined;
  readonly usage: EventUsage;
  /** What the row of `conversations` says. */
  readonly shownStatus: string;
  readonly live: Live;
}

/** Nothing used yet. */
export const noUsage: EventUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
};

/** Nothing shown yet. */
export const noLive: Live = {
  step: "",
  nextSeq: 0,
  items: [],
  outputs: {},
  firstTokenAt: undefined,
  shown: { version: 0, length: 0, status: "" },
};

/** What `store/loads/conversation.ts` gives. */
export interface Loaded {
  readonly row: { readonly status: string; readonly profile?: string | undefined } | null;
  readonly events: readonly ConversationEvent[];
  readonly defaults?: { readonly model: string } | undefined;
}

/** A conversation before its first event. */
export function emptyState(ref: string, loaded: Pick<Loaded, "row" | "defaults">): ConversationState {
  return {
    id: ref.slice(ref.indexOf("/") + 1),
    seq: 0,
    defaultModel: loaded.defaults?.model ?? REHEARSAL_MODEL,
    profile: loaded.row?.profile,
    session: undefined,
    model: undefined,
    tools: [],
    instructions: "",
    history: [],
    queue: [],
    turn: undefined,
    usage: noUsage,
    shownStatus: loaded.row?.status ?? "idle",
    live: noLive,
  };
}

/** The built-in scripted model; it signs its answers itself. */
export const REHEARSAL_MODEL = "callboard/rehearsal";

/** Names an attempt at a step: what late answers are told by. */
export function attemptKey(at: { turnId: string; step: number; attempt: number }): string {
  return `${at.turnId}.${at.step}.${at.attempt}`;
}

/** The attempt whose answer a turn waits for, or had last. */
export function presentAttempt(turn: Turn): string {
  return attemptKey({ turnId: turn.id, step: turn.step, attempt: turn.attempt });
}

/** Calls without a result. */
export function openCalls(turn: Turn): readonly Call[] {
  return turn.calls.filter((call) => call.state !== "ended");
}

/** The status that lists should show. */
export function statusOf(state: ConversationState): RowStatus {
  if (!state.turn) return "idle";
  return state.turn.calls.some((call) => call.state === "waiting") ? "waiting" : "running";
}
