/**
 * A conversation as people read it, as types: turns with their items, and notes between them. `lib/transcript.ts` makes it from the log.
 * Times are milliseconds since the epoch. Types only.
 */
import type {
  AbortReason,
  ArgumentChange,
  CallAllowed,
  CallOutcome,
  EventAuthor,
  EventInput,
  EventUsage,
} from "./conversation_event.ts";

/** Something a person wrote; `steered` words came into a running turn. */
export interface UserItem {
  readonly kind: "user";
  readonly id: string;
  readonly text: string;
  readonly author: EventAuthor;
  readonly steered: boolean;
  readonly at: number;
}

/** Text of the agent. `open`: still growing; `partial`: the turn was cut while it grew. */
export interface TextItem {
  readonly kind: "assistant" | "reasoning";
  readonly id: string;
  readonly text: string;
  readonly open: boolean;
  readonly partial: boolean;
  readonly at: number;
}

/** Where a call stands for a reader. */
export type CallViewState = "queued" | "running" | "waiting" | "ended";

/** A tool call. `itemId` names the pending item while and after it waited; `output` is what was seen live. */
export interface CallItem {
  readonly kind: "call";
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
  readonly state: CallViewState;
  readonly waitsFor?: "approval" | "answer" | undefined;
  readonly itemId?: string | undefined;
  readonly decision?: { readonly decision: string; readonly by: string } | undefined;
  /** What a person changed in `arguments` before they allowed the call. */
  readonly changes?: readonly ArgumentChange[] | undefined;
  /** What let it run; known once it has ended. */
  readonly allowed?: CallAllowed | undefined;
  readonly output: string;
  readonly outcome?: CallOutcome | undefined;
  readonly result?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly at: number;
}

/** A remark about the run of things. `code` is stable, `text` is for people. */
export interface NoteItem {
  readonly kind: "note";
  readonly id: string;
  readonly level: "info" | "warning" | "error";
  readonly code: string;
  readonly text: string;
  readonly at: number;
}

/** One thing in a turn. */
export type TranscriptItem = UserItem | TextItem | CallItem | NoteItem;

/** One turn. */
export interface TurnView {
  readonly kind: "turn";
  readonly id: string;
  readonly model: string;
  readonly state: "running" | "complete" | "failed" | "aborted";
  readonly abortReason?: AbortReason | undefined;
  /** The agent chose to say nothing. */
  readonly silent: boolean;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly items: readonly TranscriptItem[];
}

/** The whole conversation as read so far. */
export interface Transcript {
  /** The last event that was applied; 0 before the first. */
  readonly seq: number;
  readonly title: string;
  /** The model that a person chose for later turns. */
  readonly model: string | undefined;
  readonly entries: readonly (TurnView | NoteItem)[];
  /** Words that wait. */
  readonly queue: readonly EventInput[];
  /** Tokens and money of the conversation so far. */
  readonly usage: EventUsage | undefined;
}

/** A live piece, as `live.delta` carries it. `offset` counts UTF-16 units from the item's start. */
export interface TranscriptDelta {
  readonly turnId: string;
  readonly item: string;
  readonly kind: "text" | "reasoning" | "output";
  readonly offset: number;
  readonly text: string;
}
