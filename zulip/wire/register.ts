/**
 * Answers that describe the server and the account: POST /register, GET /server_settings, /users, /users/me, channels and subscriptions.
 *
 * Promises: a limit that the server does not state has Zulip's default. Knows nothing of the calls themselves. Proved by `wire_test.ts`.
 */
import * as z from "zod";

/** Null on the wire is "no limit"; a server that does not say has 600. */
const limitSeconds = z.number().nullable().default(600);

/** The answer to POST /register with `realm` and `message` among the fetched types. Durations carry their unit. */
export const Registration = z.object({
  queue_id: z.string(),
  last_event_id: z.number().int(),
  zulip_version: z.string().default(""),
  zulip_feature_level: z.number().int().default(0),
  event_queue_longpoll_timeout_seconds: z.number().positive().default(90),
  idle_queue_timeout_secs: z.number().positive().optional(),
  max_message_id: z.number().int().optional(),
  max_message_length: z.number().int().positive().default(10_000),
  max_topic_length: z.number().int().positive().default(60),
  realm_empty_topic_display_name: z.string().default("general chat"),
  realm_allow_message_editing: z.boolean().default(true),
  realm_message_content_edit_limit_seconds: limitSeconds,
  realm_message_content_delete_limit_seconds: limitSeconds,
  server_typing_started_wait_period_milliseconds: z.number().positive().default(10_000),
  ignored_parameters_unsupported: z.array(z.string()).default([]),
}).transform((r) => ({
  queueId: r.queue_id,
  lastEventId: r.last_event_id,
  zulipVersion: r.zulip_version,
  featureLevel: r.zulip_feature_level,
  longPollTimeoutMs: r.event_queue_longpoll_timeout_seconds * 1_000,
  /** How long the queue outlives its last poll, where the server says so (feature level 481 and later). */
  idleQueueTimeoutMs: r.idle_queue_timeout_secs === undefined ? null : r.idle_queue_timeout_secs * 1_000,
  /** Newest message the account can see, -1 when there is none; null where the server no longer tells. */
  maxMessageId: r.max_message_id ?? null,
  /** In code points. */
  maxMessageLength: r.max_message_length,
  /** In code points. */
  maxTopicLength: r.max_topic_length,
  emptyTopicName: r.realm_empty_topic_display_name,
  mayEditMessages: r.realm_allow_message_editing,
  /** Age in seconds after which content can no longer be edited; null: no limit. Zulip's default is 600. */
  editLimitSeconds: r.realm_message_content_edit_limit_seconds,
  /** Age in seconds after which an own message can no longer be deleted; null: no limit. */
  deleteLimitSeconds: r.realm_message_content_delete_limit_seconds,
  typingRefreshMs: r.server_typing_started_wait_period_milliseconds,
  ignoredParameters: r.ignored_parameters_unsupported,
}));
export type Registration = z.output<typeof Registration>;

export const ServerSettings = z.object({
  zulip_version: z.string(),
  zulip_feature_level: z.number().int().default(0),
  realm_url: z.string().optional(),
  realm_uri: z.string().optional(),
  realm_name: z.string().default(""),
  is_incompatible: z.boolean().default(false),
}).transform((s) => ({
  zulipVersion: s.zulip_version,
  featureLevel: s.zulip_feature_level,
  realmUrl: s.realm_url ?? s.realm_uri ?? "",
  realmName: s.realm_name,
  isIncompatible: s.is_incompatible,
}));
export type ServerSettings = z.output<typeof ServerSettings>;

/** An account, also one's own. `email` is its API address and may be made up by the server. */
export const User = z.object({
  user_id: z.number().int(),
  email: z.string().default(""),
  full_name: z.string(),
  is_bot: z.boolean().default(false),
  bot_type: z.number().int().nullable().optional(),
  is_active: z.boolean().default(true),
  is_guest: z.boolean().default(false),
  role: z.number().int().optional(),
}).transform((u) => ({
  id: u.user_id,
  email: u.email,
  fullName: u.full_name,
  isBot: u.is_bot,
  /** 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded; null for people. */
  botType: u.bot_type ?? null,
  isActive: u.is_active,
  isGuest: u.is_guest,
  /** 100 owner, 200 administrator, 300 moderator, 400 member, 600 guest. */
  role: u.role ?? null,
}));
export type User = z.output<typeof User>;

export const UserList = z.object({ members: z.array(User) }).transform((body) => body.members);

/** A channel, in lists, subscriptions and events. */
export const Channel = z.object({
  stream_id: z.number().int(),
  name: z.string().default(""),
  invite_only: z.boolean().default(false),
  is_archived: z.boolean().default(false),
}).transform((c) => ({ id: c.stream_id, name: c.name, isPrivate: c.invite_only, isArchived: c.is_archived }));
export type Channel = z.output<typeof Channel>;

export const ChannelList = z.object({ streams: z.array(Channel) }).transform((body) => body.streams);
export const SubscriptionList = z.object({ subscriptions: z.array(Channel) }).transform((body) =>
  body.subscriptions
);

/** An answer of which only the success matters. */
export const Done = z.object({ result: z.literal("success").optional() });
