/**
 * A Zulip message as the API gives it (GET /messages, `message` events, the outgoing webhook), read into one shape of ours.
 *
 * Promises: tolerant of unknown fields and of every feature level from 237 on; the wire's `stream`/`private`/`subject` become channel/direct/topic here
 * and nowhere else. Does not know what a message means to an agent. Proved by `wire_test.ts` against the specification's samples.
 */
import * as z from "zod";

/** One person's reaction. `user_id` may be missing on old servers, which nest a `user` instead. */
const WireReaction = z.object({
  emoji_name: z.string(),
  emoji_code: z.string(),
  reaction_type: z.string(),
  user_id: z.number().int().optional(),
  user: z.object({ user_id: z.number().int().optional(), id: z.number().int().optional() }).optional(),
}).transform((r) => ({
  emojiName: r.emoji_name,
  emojiCode: r.emoji_code,
  reactionType: r.reaction_type,
  userId: r.user_id ?? r.user?.user_id ?? r.user?.id ?? null,
}));
export type Reaction = z.output<typeof WireReaction>;

const WireSubmessage = z.object({
  id: z.number().int(),
  sender_id: z.number().int(),
  msg_type: z.string(),
  content: z.string(),
}).transform((s) => ({ id: s.id, senderId: s.sender_id, msgType: s.msg_type, content: s.content }));

const WireRecipient = z.object({
  id: z.number().int(),
  email: z.string().default(""),
  full_name: z.string().default(""),
}).transform((r) => ({ id: r.id, email: r.email, fullName: r.full_name }));

/** Where a message stands. A topic is a string that the server compares without regard to case; "" is the general chat. */
export type Place =
  | {
    readonly kind: "channel";
    readonly channelId: number;
    readonly channelName: string;
    readonly topic: string;
  }
  | {
    readonly kind: "direct";
    /** Everyone in the conversation, the reader and the sender included. */
    readonly users: readonly { readonly id: number; readonly email: string; readonly fullName: string }[];
  };

const Common = z.object({
  id: z.number().int(),
  sender_id: z.number().int(),
  sender_email: z.string().default(""),
  sender_full_name: z.string().default(""),
  sender_realm_str: z.string().default(""),
  client: z.string().default(""),
  content: z.string(),
  content_type: z.string().default("text/x-markdown"),
  timestamp: z.number(),
  subject: z.string().default(""),
  is_me_message: z.boolean().default(false),
  last_edit_timestamp: z.number().optional(),
  last_moved_timestamp: z.number().optional(),
  reactions: z.array(WireReaction).default([]),
  submessages: z.array(WireSubmessage).default([]),
  flags: z.array(z.string()).optional(),
});

const Channel = Common.extend({
  type: z.literal("stream"),
  stream_id: z.number().int(),
  display_recipient: z.string(),
});

const Direct = Common.extend({
  type: z.literal("private"),
  display_recipient: z.array(WireRecipient),
});

/** Parses the wire and gives a {@link Message}. */
export const Message = z.discriminatedUnion("type", [Channel, Direct]).transform((m) => ({
  id: m.id,
  senderId: m.sender_id,
  senderEmail: m.sender_email,
  senderName: m.sender_full_name,
  /** `zulipinternal` for Notification Bot and its like, which GET /users does not list. */
  senderRealm: m.sender_realm_str,
  client: m.client,
  content: m.content,
  /** Seconds since the epoch. */
  timestamp: m.timestamp,
  isMeMessage: m.is_me_message,
  lastEditTimestamp: m.last_edit_timestamp ?? null,
  lastMovedTimestamp: m.last_moved_timestamp ?? null,
  reactions: m.reactions,
  submessages: m.submessages,
  /** Present in history; a `message` event carries them beside the message. */
  flags: m.flags ?? null,
  place: placeOf(m),
}));
export type Message = z.output<typeof Message>;

function placeOf(m: z.output<typeof Channel> | z.output<typeof Direct>): Place {
  return m.type === "stream"
    ? { kind: "channel", channelId: m.stream_id, channelName: m.display_recipient, topic: m.subject }
    : { kind: "direct", users: m.display_recipient };
}

/** One page of history, oldest first. */
export const MessagePage = z.object({
  messages: z.array(Message),
  anchor: z.number().optional(),
  found_anchor: z.boolean().default(false),
  found_oldest: z.boolean().default(false),
  found_newest: z.boolean().default(false),
  history_limited: z.boolean().default(false),
}).transform((page) => ({
  messages: page.messages,
  foundAnchor: page.found_anchor,
  foundOldest: page.found_oldest,
  foundNewest: page.found_newest,
  historyLimited: page.history_limited,
}));
export type MessagePage = z.output<typeof MessagePage>;

export const SingleMessage = z.object({ message: Message }).transform((body) => body.message);

/** The answer to POST /messages. */
export const SentMessage = z.object({ id: z.number().int() });
export type SentMessage = z.output<typeof SentMessage>;
