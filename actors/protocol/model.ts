/**
 * What a conversation and the models gateway say to each other about one model step.
 *
 * Owns the shape of the history a model reads, of the request for a step, and of its three answers: deltas
 * (ephemeral), finished, failed. It does not know any provider: a history item is provider-neutral, and the
 * opaque `signature` fields are carried back to the provider that made them, unread.
 *
 * It imports nothing but zod, so that it may be part of a conversation's small bundle.
 * Proved by `model_test.ts`.
 */

import * as z from "zod";

/** A tool as it is offered to the model. `parameters` is a JSON Schema of type `object`. */
export const ToolSpec = z.object({
  name: z.string().min(1),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

const UserItem = z.object({ type: z.literal("user"), text: z.string() });

const AssistantItem = z.object({
  type: z.literal("assistant"),
  text: z.string(),
  /** What the provider wants back with this text. Opaque. */
  signature: z.string().optional(),
});

const ReasoningItem = z.object({
  type: z.literal("reasoning"),
  text: z.string(),
  /** What the provider wants back with this item to trust it as its own. Opaque. */
  signature: z.string().optional(),
});

const ToolCallItem = z.object({
  type: z.literal("tool_call"),
  callId: z.string().min(1),
  name: z.string().min(1),
  /** JSON text as the model wrote it. It may be no JSON at all: the reader must parse it and answer for it. */
  arguments: z.string(),
  /** What the provider wants back with this call. Opaque. */
  signature: z.string().optional(),
});

const ToolResultItem = z.object({
  type: z.literal("tool_result"),
  callId: z.string().min(1),
  name: z.string().min(1),
  ok: z.boolean(),
  text: z.string(),
});

/** One completed item of a conversation, in the order in which the model must read it. */
export const HistoryItem = z.discriminatedUnion("type", [
  UserItem,
  AssistantItem,
  ReasoningItem,
  ToolCallItem,
  ToolResultItem,
]);
export type HistoryItem = z.infer<typeof HistoryItem>;

/** An item that a model can produce. */
export const ModelItem = z.discriminatedUnion("type", [AssistantItem, ReasoningItem, ToolCallItem]);
export type ModelItem = z.infer<typeof ModelItem>;

/** How much the model should think before it answers; left out, the gateway's default for the model counts. */
export const ReasoningEffort = z.enum(["minimal", "low", "medium", "high"]);
export type ReasoningEffort = z.infer<typeof ReasoningEffort>;

/** Names one attempt at one step of one turn; every answer repeats it, so a late one can be told apart. */
const Attempt = {
  turnId: z.string().min(1),
  step: z.int().nonnegative(),
  attempt: z.int().nonnegative(),
};

/** Asks for one model step. `model` is `provider/name`; the name may itself contain slashes. */
export const ModelRequest = z.object({
  ...Attempt,
  model: z.string().min(1),
  system: z.string(),
  tools: z.array(ToolSpec),
  items: z.array(HistoryItem),
  reasoningEffort: ReasoningEffort.optional(),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

/** Tokens of one step. `inputTokens` counts only what was neither read from nor written to a cache. */
export const ModelUsage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cacheReadTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
  /** US dollars by the list price; 0 when the price of the model is not known. */
  costUsd: z.number().nonnegative(),
});
export type ModelUsage = z.infer<typeof ModelUsage>;

/** A piece of an item that is still growing. Ephemeral: it may be dropped, the finished item has it all. */
export const ModelDelta = z.object({
  ...Attempt,
  /** Counts from 0 within the attempt, without holes. */
  seq: z.int().nonnegative(),
  kind: z.enum(["text", "reasoning", "tool_input"]),
  /** Which item grows: deltas of one attempt with the same index belong to the same item, in rising order. */
  index: z.int().nonnegative(),
  delta: z.string(),
  callId: z.string().optional(),
});
export type ModelDelta = z.infer<typeof ModelDelta>;

/** Why a model stopped by itself. */
export const StopReason = z.enum(["stop", "tool_use", "length", "refusal"]);
export type StopReason = z.infer<typeof StopReason>;

/** The step is complete. */
export const ModelFinished = z.object({
  ...Attempt,
  /** The model that was asked for, as in the request. */
  model: z.string().min(1),
  /** The name under which the provider says it answered, when it differs (often only a dated alias). */
  servedModel: z.string().optional(),
  items: z.array(ModelItem),
  usage: ModelUsage,
  stopReason: StopReason,
});
export type ModelFinished = z.infer<typeof ModelFinished>;

/** What kind of failure it was; who retries, and how, is the conversation's decision. */
export const ModelErrorClass = z.enum([
  "transient",
  "rate_limit",
  "context_too_long",
  "usage_limit",
  "bad_request",
  "auth",
  "refusal",
  "fatal",
  "aborted",
]);
export type ModelErrorClass = z.infer<typeof ModelErrorClass>;

export const ModelError = z.object({
  class: ModelErrorClass,
  /** For people; contains no secret. */
  message: z.string(),
  /** How long the provider asked us to wait, in milliseconds. */
  retryAfterMs: z.number().nonnegative().optional(),
});
export type ModelError = z.infer<typeof ModelError>;

/** The step did not complete. `items` are those that were whole before it failed. */
export const ModelFailed = z.object({
  ...Attempt,
  error: ModelError,
  items: z.array(ModelItem),
});
export type ModelFailed = z.infer<typeof ModelFailed>;
