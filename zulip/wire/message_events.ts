/**
 * Events about messages: sent, edited, moved, deleted, flagged, reacted to, voted on, being typed.
 *
 * Promises: tolerant of unknown fields and of what differs between feature level 237 and 12.x; the wire's stream/subject become channel/topic. A table of
 * them and the entry point are in `events.ts`. Proved by `wire_test.ts`.
 */
import * as z from "zod";
import { Message } from "./messages.ts";

const id = z.number().int();
const ids = z.array(id);

export const MessageEvent = z.object({
  type: z.literal("message"),
  id,
  message: Message,
  flags: z.array(z.string()).default([]),
  local_message_id: z.string().optional(),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  message: e.message,
  /** `mentioned` is the reliable sign of a mention; empty for channels the account does not subscribe to. */
  flags: e.flags,
  /** Only in the queue that sent the message: the `local_id` of the POST. */
  localMessageId: e.local_message_id ?? null,
}));

export const UpdateMessageEvent = z.object({
  type: z.literal("update_message"),
  id,
  message_id: id,
  message_ids: ids.optional(),
  user_id: id.nullable().optional(),
  edit_timestamp: z.number().default(0),
  rendering_only: z.boolean().default(false),
  content: z.string().optional(),
  orig_content: z.string().optional(),
  stream_id: id.optional(),
  new_stream_id: id.optional(),
  orig_subject: z.string().optional(),
  subject: z.string().optional(),
  propagate_mode: z.enum(["change_one", "change_later", "change_all"]).optional(),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  messageId: e.message_id,
  /** Every message that moved in this request, ascending. */
  messageIds: (e.message_ids ?? [e.message_id]).toSorted((a, b) => a - b),
  /** Who edited; null when the server itself did (link previews). */
  userId: e.user_id ?? null,
  editTimestamp: e.edit_timestamp,
  /** A link preview was rendered; nothing changed. */
  renderingOnly: e.rendering_only,
  content: e.rendering_only || e.orig_content === undefined ? null : e.content ?? null,
  /** The channel before the change; null for direct messages. */
  channelId: e.stream_id ?? null,
  move: moveOf(e),
}));

/** What moved: a move to another channel leaves `subject` out when the topic keeps its name. */
function moveOf(e: {
  stream_id?: number | undefined;
  new_stream_id?: number | undefined;
  orig_subject?: string | undefined;
  subject?: string | undefined;
  propagate_mode?: "change_one" | "change_later" | "change_all" | undefined;
}) {
  if (e.stream_id === undefined || e.orig_subject === undefined) return null;
  return {
    from: { channelId: e.stream_id, topic: e.orig_subject },
    to: { channelId: e.new_stream_id ?? e.stream_id, topic: e.subject ?? e.orig_subject },
    propagateMode: e.propagate_mode ?? "change_one",
  };
}

export const MessageFlagsEvent = z.object({
  type: z.literal("update_message_flags"),
  id,
  op: z.enum(["add", "remove"]),
  flag: z.string(),
  messages: ids,
  all: z.boolean().default(false),
}).transform((e) => ({ type: e.type, id: e.id, op: e.op, flag: e.flag, messageIds: e.messages, all: e.all }));

export const DeleteMessageEvent = z.object({
  type: z.literal("delete_message"),
  id,
  message_id: id.optional(),
  message_ids: ids.optional(),
  message_type: z.string(),
  stream_id: id.optional(),
  topic: z.string().optional(),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  messageIds: e.message_ids ?? (e.message_id === undefined ? [] : [e.message_id]),
  channelId: e.stream_id ?? null,
  topic: e.topic ?? null,
}));

export const ReactionEvent = z.object({
  type: z.literal("reaction"),
  id,
  op: z.enum(["add", "remove"]),
  message_id: id,
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.string(),
  user_id: id.optional(),
  user: z.object({ user_id: id.optional() }).optional(),
}).transform((e, context) => {
  const userId = e.user_id ?? e.user?.user_id;
  if (userId === undefined) {
    context.issues.push({ code: "custom", message: "no user", path: ["user_id"], input: undefined });
    return z.NEVER;
  }
  return {
    type: e.type,
    id: e.id,
    op: e.op,
    messageId: e.message_id,
    userId,
    /** The name is chosen by the first reaction; compare `emojiCode` and `reactionType`. */
    emojiName: e.emoji_name,
    emojiCode: e.emoji_code,
    reactionType: e.reaction_type,
  };
});

export const SubmessageEvent = z.object({
  type: z.literal("submessage"),
  id,
  message_id: id,
  submessage_id: id,
  sender_id: id,
  msg_type: z.string(),
  content: z.string(),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  messageId: e.message_id,
  submessageId: e.submessage_id,
  senderId: e.sender_id,
  msgType: e.msg_type,
  content: e.content,
}));

export const TypingEvent = z.object({
  type: z.literal("typing"),
  id,
  op: z.enum(["start", "stop"]),
  message_type: z.string(),
  sender: z.object({ user_id: id }),
  stream_id: id.optional(),
  topic: z.string().optional(),
  recipients: z.array(z.object({ user_id: id })).optional(),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  op: e.op,
  userId: e.sender.user_id,
  channelId: e.stream_id ?? null,
  topic: e.topic ?? null,
  recipientIds: e.recipients?.map((r) => r.user_id) ?? null,
}));
