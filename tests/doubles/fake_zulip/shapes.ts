/**
 * What the fake server's rows look like on the wire: messages, accounts, channels.
 *
 * Field by field after the specification at feature level 421; `fake_zulip_test.ts` validates every answer and event against it.
 */
import {
  type FakeChannel,
  type FakeMessage,
  type FakeUser,
  NOTIFICATION_BOT_ID,
  type World,
} from "./world.ts";

export interface Viewer {
  readonly applyMarkdown: boolean;
  /** Whether "" may stand for the general chat. */
  readonly emptyTopicName: boolean;
}

const EMPTY_TOPIC_NAME = "general chat";

export function shownTopic(topic: string, viewer: Viewer): string {
  return topic === "" && !viewer.emptyTopicName ? EMPTY_TOPIC_NAME : topic;
}

/** A message object without the reader's flags. */
export function messageShape(world: World, message: FakeMessage, viewer: Viewer): Record<string, unknown> {
  const sender = senderOf(world, message.senderId);
  const place = "channelId" in message.place
    ? {
      type: "stream",
      stream_id: message.place.channelId,
      display_recipient: world.channels.get(message.place.channelId)?.name ?? "",
      subject: shownTopic(message.place.topic, viewer),
      recipient_id: 1_000 + message.place.channelId,
    }
    : {
      type: "private",
      display_recipient: message.place.userIds.map((id) => recipientShape(world.user(id))),
      subject: "",
      recipient_id: 5_000 + (message.place.userIds[0] ?? 0),
    };
  return {
    id: message.id,
    sender_id: message.senderId,
    content: viewer.applyMarkdown ? render(message.content) : message.content,
    content_type: viewer.applyMarkdown ? "text/html" : "text/x-markdown",
    timestamp: message.timestamp,
    client: message.client,
    topic_links: [],
    is_me_message: message.content.startsWith("/me "),
    reactions: message.reactions.map((r) => ({
      emoji_name: r.name,
      emoji_code: r.code,
      reaction_type: r.type,
      user_id: r.userId,
    })),
    submessages: message.submessages.map((s) => ({
      id: s.id,
      message_id: message.id,
      sender_id: s.senderId,
      msg_type: s.msgType,
      content: s.content,
    })),
    sender_full_name: sender.fullName,
    sender_email: sender.email,
    sender_realm_str: sender.realm,
    avatar_url: null,
    ...place,
    ...(message.lastEditTimestamp === null ? {} : { last_edit_timestamp: message.lastEditTimestamp }),
    ...(message.lastMovedTimestamp === null ? {} : { last_moved_timestamp: message.lastMovedTimestamp }),
  };
}

export function flagsFor(message: FakeMessage, userId: number): string[] {
  if (!message.rows.has(userId)) return [];
  return [
    ...(message.senderId === userId ? ["read"] : []),
    ...(message.mentioned.has(userId) ? ["mentioned"] : []),
  ];
}

function senderOf(world: World, id: number) {
  if (id === NOTIFICATION_BOT_ID) {
    return { fullName: "Notification Bot", email: "notification-bot@zulip.com", realm: "zulipinternal" };
  }
  const user = world.user(id);
  return { fullName: user.fullName, email: user.email, realm: "test" };
}

function recipientShape(user: FakeUser) {
  return { id: user.id, email: user.email, full_name: user.fullName, is_mirror_dummy: false };
}

/** Not Zulip's renderer: enough HTML that a reader who wanted raw text would notice. */
export function render(content: string): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `<p>${escaped.replaceAll("\n", "<br>\n")}</p>`;
}

export function userShape(user: FakeUser): Record<string, unknown> {
  return {
    user_id: user.id,
    email: user.email,
    delivery_email: user.email,
    full_name: user.fullName,
    is_active: user.isActive,
    is_admin: user.role === 100,
    is_owner: user.role === 100,
    is_guest: false,
    is_bot: user.isBot,
    bot_type: user.botType,
    ...(user.isBot ? { bot_owner_id: user.ownerId } : {}),
    role: user.role,
    timezone: "",
    avatar_url: null,
    avatar_version: 1,
    date_joined: "2026-01-01T00:00:00+00:00",
    ...(user.isBot ? {} : { profile_data: {} }),
  };
}

/** GET /users/me has no `bot_type`. */
export function ownUserShape(user: FakeUser, maxMessageId: number): Record<string, unknown> {
  const { bot_type: _botType, bot_owner_id: _owner, avatar_url: _avatar, ...rest } = userShape(user);
  return {
    ...rest,
    avatar_url: "https://zulip.test/avatar.png",
    profile_data: {},
    max_message_id: maxMessageId,
  };
}

export function channelShape(channel: FakeChannel): Record<string, unknown> {
  return {
    stream_id: channel.id,
    name: channel.name,
    is_archived: channel.isArchived,
    description: "",
    rendered_description: "",
    date_created: 1_767_225_600,
    creator_id: null,
    invite_only: channel.isPrivate,
    is_web_public: false,
    stream_post_policy: 1,
    history_public_to_subscribers: true,
    first_message_id: null,
    folder_id: null,
    is_recently_active: true,
    message_retention_days: null,
    is_announcement_only: false,
    stream_weekly_traffic: null,
    can_add_subscribers_group: 2,
    can_remove_subscribers_group: 2,
    can_subscribe_group: 2,
    subscriber_count: channel.subscribers.size,
  };
}

export function subscriptionShape(channel: FakeChannel): Record<string, unknown> {
  return {
    ...channelShape(channel),
    color: "#76ce90",
    is_muted: false,
    in_home_view: true,
    pin_to_top: false,
    audible_notifications: null,
    desktop_notifications: null,
    email_notifications: null,
    push_notifications: null,
    wildcard_mentions_notify: null,
  };
}
