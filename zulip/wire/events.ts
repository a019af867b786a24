/**
 * Events of a Zulip queue, read into typed shapes.
 *
 * Promises: `parseEvent` never throws and never loses the id that must be acknowledged; an event we do not act on is `other`, by name, on purpose
 * (`IGNORED_EVENTS`), and so is one that a newer server invents. Tolerant of unknown fields, from feature level 237 to 12.x. Does not know what anybody
 * does with an event. Proved by `wire_test.ts`, which sends every sample through it.
 */
import * as z from "zod";
import { Message } from "./messages.ts";
import { Channel } from "./register.ts";

const id = z.number().int();
const ids = z.array(id);

const MessageEvent = z.object({
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

const UpdateMessageEvent = z.object({
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

const MessageFlagsEvent = z.object({
  type: z.literal("update_message_flags"),
  id,
  op: z.enum(["add", "remove"]),
  flag: z.string(),
  messages: ids,
  all: z.boolean().default(false),
}).transform((e) => ({ type: e.type, id: e.id, op: e.op, flag: e.flag, messageIds: e.messages, all: e.all }));

const DeleteMessageEvent = z.object({
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

const ReactionEvent = z.object({
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

const SubscriptionEvent = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), id, subscriptions: z.array(Channel) }),
  z.object({ op: z.literal("remove"), id, subscriptions: z.array(Channel) }),
  z.object({ op: z.literal("update"), id, stream_id: id, property: z.string() }),
  z.object({ op: z.literal("peer_add"), id, stream_ids: ids.default([]), user_ids: ids.default([]) }),
  z.object({ op: z.literal("peer_remove"), id, stream_ids: ids.default([]), user_ids: ids.default([]) }),
]).transform((e) => {
  const base = { type: "subscription" as const, id: e.id };
  switch (e.op) {
    case "add":
    case "remove":
      return { ...base, op: e.op, channels: e.subscriptions };
    case "update":
      return { ...base, op: e.op, channelId: e.stream_id, property: e.property };
    case "peer_add":
    case "peer_remove":
      return { ...base, op: e.op, channelIds: e.stream_ids, userIds: e.user_ids };
  }
});

const StreamEvent = z.discriminatedUnion("op", [
  z.object({ op: z.literal("create"), id, streams: z.array(Channel) }),
  // Newer servers give ids alone, older ones objects.
  z.object({
    op: z.literal("delete"),
    id,
    streams: z.array(Channel).default([]),
    stream_ids: ids.default([]),
  }),
  z.object({
    op: z.literal("update"),
    id,
    stream_id: id,
    name: z.string(),
    property: z.string(),
    value: z.unknown(),
  }),
]).transform((e) => {
  const base = { type: "stream" as const, id: e.id };
  switch (e.op) {
    case "create":
      return { ...base, op: e.op, channels: e.streams };
    case "delete":
      return {
        ...base,
        op: e.op,
        channelIds: [...new Set([...e.stream_ids, ...e.streams.map((s) => s.id)])],
      };
    case "update":
      return {
        ...base,
        op: e.op,
        channelId: e.stream_id,
        name: e.name,
        property: e.property,
        value: e.value,
      };
  }
});

const RealmUserEvent = z.object({
  type: z.literal("realm_user"),
  id,
  op: z.enum(["add", "update", "remove"]),
  person: z.object({
    user_id: id,
    full_name: z.string().optional(),
    is_bot: z.boolean().optional(),
    is_active: z.boolean().optional(),
    role: id.optional(),
  }),
}).transform((e) => ({
  type: e.type,
  id: e.id,
  op: e.op,
  userId: e.person.user_id,
  /** Null where the event does not change the field. */
  fullName: e.person.full_name ?? null,
  isBot: e.person.is_bot ?? null,
  isActive: e.op === "remove" ? false : e.person.is_active ?? null,
  role: e.person.role ?? null,
}));

const SubmessageEvent = z.object({
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

const RestartEvent = z.object({
  type: z.literal("restart"),
  id,
  zulip_version: z.string().default(""),
  zulip_feature_level: id,
}).transform((e) => ({
  type: e.type,
  id: e.id,
  zulipVersion: e.zulip_version,
  featureLevel: e.zulip_feature_level,
}));

const TypingEvent = z.object({
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

const HeartbeatEvent = z.object({ type: z.literal("heartbeat"), id });

const RealmDeactivatedEvent = z.object({ id }).transform((e) => ({
  type: "realm_deactivated" as const,
  id: e.id,
}));

/** Event names that we know and do not act on. */
export const IGNORED_EVENTS: ReadonlySet<string> = new Set([
  "alert_words",
  "attachment",
  "channel_folder",
  "custom_profile_fields",
  "default_stream_groups",
  "default_streams",
  "device",
  "drafts",
  "has_webex_token",
  "has_zoom_token",
  "invites_changed",
  "muted_topics",
  "muted_users",
  "navigation_view",
  "onboarding_steps",
  "presence",
  "push_device",
  "realm", // all but `deactivated`
  "realm_bot", // accounts come and go through realm_user too
  "realm_domains",
  "realm_emoji",
  "realm_export",
  "realm_export_consent",
  "realm_filters",
  "realm_linkifiers",
  "realm_playgrounds",
  "realm_user_settings_defaults",
  "reminders",
  "saved_snippets",
  "scheduled_messages",
  "typing_edit_message",
  "update_display_settings",
  "update_global_notifications",
  "user_group",
  "user_settings",
  "user_status",
  "user_topic",
  "web_reload_client", // concerns the web app
]);

const HANDLED = {
  message: MessageEvent,
  update_message: UpdateMessageEvent,
  update_message_flags: MessageFlagsEvent,
  delete_message: DeleteMessageEvent,
  reaction: ReactionEvent,
  subscription: SubscriptionEvent,
  stream: StreamEvent,
  realm_user: RealmUserEvent,
  submessage: SubmessageEvent,
  restart: RestartEvent,
  typing: TypingEvent,
  heartbeat: HeartbeatEvent,
} as const;

/** An event we do not act on. `known` is false for a name that this file has never heard of. */
export interface OtherEvent {
  readonly type: "other";
  readonly id: number;
  readonly name: string;
  readonly known: boolean;
}

export type ZulipEvent =
  | { [K in keyof typeof HANDLED]: z.output<(typeof HANDLED)[K]> }[keyof typeof HANDLED]
  | z.output<typeof RealmDeactivatedEvent>
  | OtherEvent;

/** An event of one type, such as `EventOf<"message">`. */
export type EventOf<T extends ZulipEvent["type"]> = Extract<ZulipEvent, { type: T }>;

export type ParsedEvent =
  | { readonly ok: true; readonly event: ZulipEvent }
  /** `id` is null when even that could not be read. `reason` names fields, never values. */
  | { readonly ok: false; readonly name: string; readonly id: number | null; readonly reason: string };

const Header = z.object({ type: z.string(), id, op: z.string().optional().catch(undefined) });

/** Reads one element of the `events` list of GET /events. */
export function parseEvent(raw: unknown): ParsedEvent {
  const header = Header.safeParse(raw);
  if (!header.success) {
    const partial = z.object({ type: z.string().catch("unnamed"), id: id.nullable().catch(null) }).safeParse(
      raw,
    );
    return {
      ok: false,
      name: partial.data?.type ?? "unnamed",
      id: partial.data?.id ?? null,
      reason: fieldsOf(header.error),
    };
  }
  const { type: name, id: eventId, op } = header.data;
  if (name === "realm" && op === "deactivated") {
    return finish(name, eventId, RealmDeactivatedEvent.safeParse(raw));
  }
  if (isHandled(name)) return finish(name, eventId, HANDLED[name].safeParse(raw));
  return { ok: true, event: { type: "other", id: eventId, name, known: IGNORED_EVENTS.has(name) } };
}

function isHandled(name: string): name is keyof typeof HANDLED {
  return Object.hasOwn(HANDLED, name);
}

function finish(name: string, eventId: number, result: z.ZodSafeParseResult<ZulipEvent>): ParsedEvent {
  return result.success
    ? { ok: true, event: result.data }
    : { ok: false, name, id: eventId, reason: fieldsOf(result.error) };
}

function fieldsOf(error: z.ZodError): string {
  return error.issues.map((issue) => issue.path.join(".") || issue.code).join(", ");
}

/** The answer to GET /events; its elements go through {@link parseEvent} one by one. */
export const EventBatch = z.object({ events: z.array(z.unknown()) }).transform((body) => body.events);
