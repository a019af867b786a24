/**
 * Web chats and transcripts. Part of `edge/api.ts`.
 */
import * as z from "zod";

export const ConversationStatus = z.enum(["idle", "running", "waiting", "paused", "parked"]);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

export const ConversationSummary = z.object({
  id: z.string(),
  title: z.string(),
  /** `web`, `channel` or `dm`. */
  source: z.string(),
  channelId: z.int().optional(),
  channel: z.string().optional(),
  topic: z.string().optional(),
  profile: z.string(),
  model: z.string().optional(),
  status: ConversationStatus,
  turns: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  preview: z.string().optional(),
  /** Pending items that wait for a person. */
  waiting: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;
/** `GET /api/conversations?limit=&after=&q=`; `q`: words that title, topic or preview hold, all of them. */
export const ConversationList = z.object({
  conversations: z.array(ConversationSummary),
  next: z.string().optional(),
});
export type ConversationList = z.infer<typeof ConversationList>;

/** `POST /api/conversations`; the conversation exists as soon as its first message is handled. */
export const NewConversation = z.strictObject({
  text: z.string().trim().min(1).max(200_000),
  title: z.string().trim().min(1).max(200).optional(),
});
export type NewConversation = z.infer<typeof NewConversation>;

/** `POST …/messages`. `mode`: own turn after the current one, into the running turn, or in its place. `clientId` makes a repeat harmless. */
export const NewMessage = z.strictObject({
  text: z.string().trim().min(1).max(200_000),
  mode: z.enum(["queue", "steer", "start"]).default("queue"),
  clientId: z.string().min(8).max(64).regex(/^[A-Za-z0-9_-]+$/).optional(),
});
export type NewMessage = z.input<typeof NewMessage>;

/** `POST …/stop`. */
export const StopRequest = z.strictObject({ turnId: z.string().max(64).optional() });
export type StopRequest = z.infer<typeof StopRequest>;

/** `POST …/model`. `provider/name`; 400 for one that cannot be used here, with those that can. */
export const ModelChoice = z.strictObject({
  model: z.string().min(3).max(200).regex(/^[^/\s]+\/\S+$/, "must be provider/name"),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** 202: a durable message was committed. `id` is the message's; `conversation` the conversation's. */
export const Accepted = z.object({ id: z.string(), conversation: z.string() });
export type Accepted = z.infer<typeof Accepted>;

/** One event of a transcript; the payload's shape belongs to `type`. */
export const ConversationEvent = z.object({
  seq: z.int(),
  type: z.string(),
  at: z.int(),
  payload: z.unknown(),
});
export type ConversationEvent = z.infer<typeof ConversationEvent>;

/** `GET …/events?after=`; `next` is set when there are more. */
export const EventList = z.object({ events: z.array(ConversationEvent), next: z.int().optional() });
export type EventList = z.infer<typeof EventList>;
