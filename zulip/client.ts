/**
 * The Zulip REST API as typed calls.
 *
 * Promises: each call is one HTTP request, made at most once and never repeated by this layer (`http.ts`); raw Markdown in both directions; answers are
 * parsed before they are returned. Rejects with `ZulipError`, or with the signal's reason when aborted. Does not wait, retry, cache or know which
 * conversation a message belongs to. Proved by `client_test.ts` against the fake server over real sockets.
 */
import { ZulipError } from "./errors.ts";
import { createHttp, type HttpOptions } from "./http.ts";
import { EventBatch } from "./wire/events.ts";
import { type Message, MessagePage, SentMessage, SingleMessage } from "./wire/messages.ts";
import {
  type Channel,
  ChannelList,
  Done,
  Registration,
  ServerSettings,
  SubscriptionList,
  User,
  UserList,
} from "./wire/register.ts";

/** Where a new message goes. */
export type Target =
  | { readonly channelId: number; readonly topic: string }
  /** A direct message; one's own id may be left out. */
  | { readonly userIds: readonly number[] };

/** A term of a GET /messages narrow. Channel operands are ids, so that a rename does not break them. */
export interface NarrowTerm {
  readonly operator: "channel" | "topic" | "sender" | "dm" | "id" | "is" | "channels";
  readonly operand: string | number | readonly number[];
  readonly negated?: boolean;
}
export type Narrow = readonly NarrowTerm[];

export interface RegisterOptions {
  /** @default EVENT_TYPES */
  readonly eventTypes?: readonly string[];
  /** How long the server shall keep the queue without a poll, in seconds; servers before feature level 481 may ignore it. */
  readonly idleQueueSeconds?: number;
}

export interface SendOptions {
  readonly to: Target;
  readonly content: string;
  /** Comes back as `localMessageId` in the `message` event of the queue named here. Not an idempotency key. */
  readonly localId?: string;
  readonly queueId?: string;
  /** JSON of a zform widget. */
  readonly widgetContent?: string;
}

export interface HistoryOptions {
  readonly anchor: number | "newest" | "oldest" | "first_unread";
  readonly numBefore: number;
  readonly numAfter: number;
  /** @default [] (everything the account may read) */
  readonly narrow?: Narrow;
  /** @default true */
  readonly includeAnchor?: boolean;
}

/** Move one message, those after it too, or its whole topic. Notices about the move are never asked for. */
export interface MoveOptions {
  readonly topic?: string;
  /** Not together with an edit of the content. */
  readonly channelId?: number;
  readonly propagateMode: "change_one" | "change_later" | "change_all";
}

export interface Emoji {
  readonly name: string;
  /** With `type`, needed to remove a reaction whose emoji has been renamed. */
  readonly code?: string;
  readonly type?: "unicode_emoji" | "realm_emoji" | "zulip_extra_emoji";
}

export interface ZulipClient {
  register(options?: RegisterOptions): Promise<Registration>;
  /** One long poll. Acknowledges everything up to `lastEventId`; the elements go through `parseEvent`. */
  getEvents(
    queue: { readonly queueId: string; readonly lastEventId: number },
    options: { readonly timeoutMs: number; readonly dontBlock?: boolean; readonly signal?: AbortSignal },
  ): Promise<unknown[]>;
  deleteQueue(queueId: string): Promise<void>;
  sendMessage(options: SendOptions): Promise<SentMessage>;
  /**
   * Replaces the content. With `previousSha256` (hex, of the content being replaced) servers from feature level 379 on refuse with
   * `EXPECTATION_MISMATCH` when somebody was faster.
   */
  editMessage(
    messageId: number,
    content: string,
    options?: { readonly previousSha256?: string },
  ): Promise<void>;
  moveMessage(messageId: number, move: MoveOptions): Promise<void>;
  deleteMessage(messageId: number): Promise<void>;
  getMessages(options: HistoryOptions, signal?: AbortSignal): Promise<MessagePage>;
  /** Null when it is deleted or not ours to read. */
  getMessage(messageId: number): Promise<Message | null>;
  /** Succeeds when the reaction is there already. */
  addReaction(messageId: number, emoji: Emoji): Promise<void>;
  /** Succeeds when the reaction is gone already. */
  removeReaction(messageId: number, emoji: Emoji): Promise<void>;
  setTyping(op: "start" | "stop", to: Target): Promise<void>;
  users(): Promise<User[]>;
  me(): Promise<User>;
  subscriptions(): Promise<Channel[]>;
  streams(): Promise<Channel[]>;
  serverSettings(): Promise<ServerSettings>;
  /** Frees the sockets; calls in flight fail. Idempotent. */
  close(): void;
}

/** The events that Callboard asks for. Typing has a schema and no reader, and would be most of the traffic. */
export const EVENT_TYPES = [
  "message",
  "update_message",
  "delete_message",
  "reaction",
  "submessage",
  "subscription",
  "stream",
  "realm_user",
  "realm",
  "restart",
] as const;

/** Shapes that this client understands. `empty_topic_name` makes the general chat arrive as "", whatever the realm's language. */
const CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: true,
  stream_typing_notifications: true,
  user_settings_object: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
};

const RAW = { apply_markdown: false, client_gravatar: false, allow_empty_topic_name: true } as const;

/**
 * A client for one account on one server.
 *
 * @throws {TypeError} when 'site' is no http(s) origin.
 */
export function createZulipClient(options: HttpOptions): ZulipClient {
  const http = createHttp(options);

  /** Writes of which only the success matters. */
  async function done(method: "POST" | "PATCH" | "DELETE", path: string, params?: Record<string, unknown>) {
    await http.call(method, { path, schema: Done, ...(params ? { params } : {}) });
  }

  return {
    register: (register = {}) =>
      http.call("POST", {
        path: "/register",
        schema: Registration,
        params: {
          event_types: register.eventTypes ?? EVENT_TYPES,
          fetch_event_types: ["realm", "message"],
          apply_markdown: false,
          client_gravatar: false,
          all_public_streams: false,
          include_subscribers: false,
          slim_presence: true,
          client_capabilities: CAPABILITIES,
          // Two names of one wish: the second is understood before feature level 481.
          idle_queue_timeout: register.idleQueueSeconds,
          queue_lifespan_secs: register.idleQueueSeconds,
        },
      }),

    getEvents: (queue, { timeoutMs, dontBlock, signal }) =>
      http.call("GET", {
        path: "/events",
        schema: EventBatch,
        params: { queue_id: queue.queueId, last_event_id: queue.lastEventId, dont_block: dontBlock },
        timeoutMs,
        signal,
      }),

    deleteQueue: (queueId) => done("DELETE", "/events", { queue_id: queueId }),

    sendMessage: ({ to, content, localId, queueId, widgetContent }) =>
      http.call("POST", {
        path: "/messages",
        schema: SentMessage,
        params: {
          ...("channelId" in to
            ? { type: "channel", to: to.channelId, topic: to.topic }
            : { type: "direct", to: to.userIds }),
          content,
          local_id: localId,
          queue_id: queueId,
          widget_content: widgetContent,
        },
      }),

    editMessage: (messageId, content, { previousSha256 } = {}) =>
      done("PATCH", `/messages/${messageId}`, { content, prev_content_sha256: previousSha256 }),

    moveMessage: (messageId, { topic, channelId, propagateMode }) =>
      done("PATCH", `/messages/${messageId}`, {
        topic,
        stream_id: channelId,
        propagate_mode: propagateMode,
        send_notification_to_old_thread: false,
        send_notification_to_new_thread: false,
      }),

    deleteMessage: (messageId) => done("DELETE", `/messages/${messageId}`),

    getMessages: ({ anchor, numBefore, numAfter, narrow, includeAnchor }, signal) =>
      http.call("GET", {
        path: "/messages",
        schema: MessagePage,
        params: {
          ...RAW,
          anchor,
          num_before: numBefore,
          num_after: numAfter,
          narrow: narrow ?? [],
          include_anchor: includeAnchor ?? true,
        },
        signal,
      }),

    getMessage: (messageId) =>
      orWhen(["BAD_REQUEST"], null, () =>
        http.call("GET", {
          path: `/messages/${messageId}`,
          schema: SingleMessage,
          params: { apply_markdown: false, allow_empty_topic_name: true },
        })),

    addReaction: (messageId, emoji) =>
      orWhen(
        ["REACTION_ALREADY_EXISTS"],
        undefined,
        () => done("POST", `/messages/${messageId}/reactions`, emojiParams(emoji)),
      ),

    removeReaction: (messageId, emoji) =>
      orWhen(
        ["REACTION_DOES_NOT_EXIST"],
        undefined,
        () => done("DELETE", `/messages/${messageId}/reactions`, emojiParams(emoji)),
      ),

    setTyping: (op, to) =>
      done(
        "POST",
        "/typing",
        "channelId" in to
          ? { op, type: "channel", stream_id: to.channelId, topic: to.topic }
          : { op, type: "direct", to: to.userIds },
      ),

    users: () => http.call("GET", { path: "/users", schema: UserList, params: { client_gravatar: false } }),
    me: () => http.call("GET", { path: "/users/me", schema: User }),
    subscriptions: () => http.call("GET", { path: "/users/me/subscriptions", schema: SubscriptionList }),
    streams: () => http.call("GET", { path: "/streams", schema: ChannelList }),
    serverSettings: () =>
      http.call("GET", { path: "/server_settings", schema: ServerSettings, authenticated: false }),
    close: () => http.close(),
  };
}

function emojiParams(emoji: Emoji): Record<string, unknown> {
  return { emoji_name: emoji.name, emoji_code: emoji.code, reaction_type: emoji.type };
}

/** Turns a refusal with one of `codes` into a value. */
async function orWhen<T, E>(codes: readonly string[], value: E, call: () => Promise<T>): Promise<T | E> {
  try {
    return await call();
  } catch (error) {
    if (
      error instanceof ZulipError && error.failure.kind === "bad_request" &&
      codes.includes(error.failure.code)
    ) {
      return value;
    }
    throw error;
  }
}
