/**
 * What is said to a conversation by people and by the runtime. Model and tool replies are declared with their own subjects.
 */
import * as z from "zod";
import { message } from "./define.ts";

/** Who wrote a message. `id` is stable within its kind (`zulip`: the user id as text). */
export const Author = z.object({
  kind: z.enum(["zulip", "web", "schedule"]),
  id: z.string().max(200),
  name: z.string().max(200),
});
export type Author = z.infer<typeof Author>;

/** Where a conversation is shown. The first message carries it; the conversation keeps it. */
export const Source = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("web") }),
  z.object({
    kind: z.literal("zulip"),
    realm: z.string(),
    channelId: z.int().optional(),
    channel: z.string().optional(),
    topic: z.string().optional(),
    userIds: z.array(z.int()).optional(),
  }),
]);
export type Source = z.infer<typeof Source>;

/**
 * A person's (or a schedule's) words. `mode`: `queue` runs as its own turn after the current one, `steer` is injected into the running
 * turn, `start` replaces it. `messageId` is the Zulip message, for the acknowledging reaction.
 */
export const ConversationMessage = z.object({
  text: z.string().min(1).max(200_000),
  author: Author,
  mode: z.enum(["queue", "steer", "start"]).default("queue"),
  source: Source,
  title: z.string().max(200).optional(),
  messageId: z.int().optional(),
  /** False: nobody called the bot by name, so it may stay silent. */
  addressed: z.boolean().default(true),
});
export type ConversationMessage = z.infer<typeof ConversationMessage>;

/** A person asks the running turn to stop; nothing happens when none runs. */
export const ConversationStop = z.object({ by: Author, turnId: z.string().optional() });
export type ConversationStop = z.infer<typeof ConversationStop>;

/** A person starts afresh (`!new`): history is set aside, bypasses of the old session end. */
export const ConversationReset = z.object({ by: Author });
export type ConversationReset = z.infer<typeof ConversationReset>;

/** Chooses the model of later turns, as `provider/name`. */
export const ConversationSetModel = z.object({
  by: Author,
  model: z.string().min(3).max(200).regex(/^[^/\s]+\/\S+$/),
});
export type ConversationSetModel = z.infer<typeof ConversationSetModel>;

/**
 * Said once to every new incarnation before anything else; never a row. `crashes`: how often in a row this very actor was the suspect of
 * a death since its last commit.
 */
export const ActorWoke = z.object({
  incarnation: z.int(),
  lastDown: z.enum(["error", "exit", "hang", "oom", "killed", "lost", "shutdown"]).optional(),
  crashes: z.int().nonnegative(),
});
export type ActorWoke = z.infer<typeof ActorWoke>;

/** The answer to a request that was refused or went to the dead letters. `request` is the id of the failed message. */
export const RequestFailed = z.object({
  request: z.string(),
  type: z.string(),
  code: z.string(),
  message: z.string(),
  /** The failed request's own ids, copied from its payload, so that a receiver need not remember message ids. */
  callId: z.string().optional(),
  turnId: z.string().optional(),
  itemId: z.string().optional(),
});
export type RequestFailed = z.infer<typeof RequestFailed>;

/** A person asks for an actor to be started again: a parked one is un-parked, a live one is killed first. */
export const ActorRestart = z.object({ ref: z.string(), by: Author });
export type ActorRestart = z.infer<typeof ActorRestart>;

/** The owner settles a message that was given up: it is tried once more as a new message, or let rest. */
export const DeadLetterSettle = z.object({
  /** The id of the message that was given up. */
  id: z.string(),
  action: z.enum(["retry", "discard"]),
  by: Author,
});
export type DeadLetterSettle = z.infer<typeof DeadLetterSettle>;

/** Message types of this subject. */
export const conversationMessages = {
  "actor.restart": message(["edge"], ["supervisor"], ActorRestart, { lane: "control" }),
  "dead_letter.settle": message(["edge"], ["supervisor"], DeadLetterSettle, {
    lane: "control",
    request: true,
  }),
  "conversation.message": message(["edge", "zulip", "scheduler"], ["conversation"], ConversationMessage, {
    request: true,
  }),
  "conversation.stop": message(["edge", "zulip", "approval"], ["conversation"], ConversationStop, {
    lane: "control",
  }),
  "conversation.reset": message(["edge", "zulip"], ["conversation"], ConversationReset),
  "conversation.set_model": message(["edge", "zulip"], ["conversation"], ConversationSetModel),
  "actor.woke": message(["supervisor"], ["conversation", "approval", "scheduler"], ActorWoke, {
    lane: "control",
    durable: false,
  }),
  "request.failed": message(
    ["supervisor"],
    ["conversation", "approval", "scheduler", "zulip", "models", "toolbox", "agents", "push", "edge"],
    RequestFailed,
    { lane: "control" },
  ),
} as const;
