/**
 * The calls that the fake server answers: which operation a path is, and what each gives back.
 *
 * One function a call, in terms of the realm's rows; refusals are thrown. Transport, faults and the log are in `api.ts`.
 */
import { Buffer } from "node:buffer";
import { typing } from "./channels.ts";
import { editContent, move, remove, send } from "./messages.ts";
import { matchesNarrow, type NarrowTerm } from "./narrow.ts";
import type { Params } from "./params.ts";
import { react, unreact } from "./reactions.ts";
import {
  channelShape,
  flagsFor,
  messageShape,
  ownUserShape,
  render,
  subscriptionShape,
  userShape,
} from "./shapes.ts";
import { type FakeMessage, type FakePlace, type FakeUser, type World, ZulipRefusal } from "./world.ts";

export type Json = Record<string, unknown>;

interface Call {
  readonly world: World;
  readonly user: FakeUser;
  readonly params: Params;
  readonly id: number;
  readonly gone: Promise<void>;
}

type Handler = (call: Call) => Json | Promise<Json>;

export const ROUTES: readonly (readonly [op: string, path: RegExp, handler: Handler])[] = [
  ["POST /register", /^\/register$/, register],
  ["GET /events", /^\/events$/, getEvents],
  ["DELETE /events", /^\/events$/, deleteQueue],
  ["POST /messages", /^\/messages$/, sendMessage],
  ["GET /messages", /^\/messages$/, getMessages],
  ["GET /messages/{message_id}", /^\/messages\/(\d+)$/, getMessage],
  ["PATCH /messages/{message_id}", /^\/messages\/(\d+)$/, updateMessage],
  ["DELETE /messages/{message_id}", /^\/messages\/(\d+)$/, deleteMessage],
  ["POST /messages/{message_id}/reactions", /^\/messages\/(\d+)\/reactions$/, addReaction],
  ["DELETE /messages/{message_id}/reactions", /^\/messages\/(\d+)\/reactions$/, removeReaction],
  ["POST /typing", /^\/typing$/, setTyping],
  ["GET /users", /^\/users$/, getUsers],
  ["GET /users/me", /^\/users\/me$/, getMe],
  ["GET /users/me/subscriptions", /^\/users\/me\/subscriptions$/, getSubscriptions],
  ["GET /users/me/{stream_id}/topics", /^\/users\/me\/(\d+)\/topics$/, getTopics],
  ["GET /streams", /^\/streams$/, getStreams],
];

export function serverSettings(world: World, host: string): Json {
  return {
    authentication_methods: { password: true },
    zulip_version: world.version,
    zulip_merge_base: world.version,
    zulip_feature_level: world.featureLevel,
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_uri: `http://${host}`,
    realm_url: `http://${host}`,
    realm_name: "Fake Zulip",
    realm_icon: "https://zulip.test/icon.png",
    realm_description: "<p>A realm for tests.</p>",
    realm_web_public_access_enabled: false,
    external_authentication_methods: [],
  };
}

function register({ world, user, params }: Call): Json {
  const types = params.json("event_types");
  const fetched = params.json("fetch_event_types") ?? types;
  const capabilities = params.json("client_capabilities");
  const declared: Json = typeof capabilities === "object" && capabilities !== null ? { ...capabilities } : {};
  if (capabilities !== undefined && declared["notification_settings_null"] === undefined) {
    throw new ZulipRefusal("client_capabilities: notification_settings_null field is required");
  }
  for (const name of ["client_gravatar", "include_subscribers", "slim_presence", "narrow"]) {
    params.optional(name);
  }
  const idleSeconds = (world.featureLevel >= 481 ? params.integer("idle_queue_timeout") : undefined) ??
    params.integer("queue_lifespan_secs") ?? world.limits.idleQueueSeconds;
  const queue = world.queues.register({
    userId: user.id,
    eventTypes: isTextList(types) ? types : null,
    applyMarkdown: params.flag("apply_markdown", false),
    allPublicStreams: params.flag("all_public_streams", false),
    emptyTopicName: declared["empty_topic_name"] === true,
    bulkDeletion: declared["bulk_message_deletion"] === true,
    idleSeconds,
  });
  const wants = (type: string) => !isTextList(fetched) || fetched.includes(type);
  return {
    queue_id: queue.id,
    last_event_id: -1,
    zulip_version: world.version,
    zulip_merge_base: world.version,
    zulip_feature_level: world.featureLevel,
    ...(world.featureLevel >= 481 ? { idle_queue_timeout_secs: idleSeconds } : {}),
    ...(wants("message") ? { max_message_id: newestReadable(world, user) } : {}),
    ...(wants("realm")
      ? {
        event_queue_longpoll_timeout_seconds: world.limits.longPollSeconds,
        max_message_length: world.limits.maxMessageLength,
        max_topic_length: world.limits.maxTopicLength,
        realm_empty_topic_display_name: "general chat",
        realm_allow_message_editing: true,
        realm_message_content_edit_limit_seconds: world.limits.editLimitSeconds,
        realm_message_content_delete_limit_seconds: world.limits.deleteLimitSeconds,
        server_typing_started_wait_period_milliseconds: 30_000,
        server_typing_started_expiry_period_milliseconds: 45_000,
        server_typing_stopped_wait_period_milliseconds: 5_000,
      }
      : {}),
  };
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function newestReadable(world: World, user: FakeUser): number {
  return Math.max(-1, ...[...world.messages.values()].filter((m) => m.rows.has(user.id)).map((m) => m.id));
}

async function getEvents({ world, user, params, gone }: Call): Promise<Json> {
  const queue = world.queues.get(user.id, params.text("queue_id"));
  params.text("last_event_id");
  const lastEventId = params.integer("last_event_id") ?? -1;
  const events = await world.queues.poll(queue, lastEventId, {
    dontBlock: params.flag("dont_block", false),
    gone,
  });
  return { queue_id: queue.id, events };
}

function deleteQueue({ world, user, params }: Call): Json {
  world.queues.remove(world.queues.get(user.id, params.text("queue_id")).id);
  return {};
}

function sendMessage({ world, user, params }: Call): Json {
  const message = send(world, user.id, placeFrom(world, user, params), params.text("content"), {
    client: "Callboard",
    localId: params.optional("local_id"),
    queueId: params.optional("queue_id"),
    widgetContent: params.optional("widget_content"),
  });
  return { id: message.id };
}

function placeFrom(world: World, user: FakeUser, params: Params): FakePlace {
  const type = params.text("type");
  if (type === "channel" || type === "stream") {
    const to = params.either("to");
    const channel = world.channel(typeof to === "number" ? to : String(to));
    if (channel.isArchived || (channel.isPrivate && !channel.subscribers.has(user.id))) {
      throw new ZulipRefusal(`Not authorized to send to channel '${channel.name}'`);
    }
    return { channelId: channel.id, topic: params.optional("topic") ?? "" };
  }
  if (type !== "direct" && type !== "private") throw new ZulipRefusal("Invalid type");
  const to = params.either("to");
  const ids = (Array.isArray(to) ? to : [to]).map((key) =>
    world.findUser(typeof key === "number" ? key : String(key)).id
  );
  return { userIds: directGroup(user.id, ids) };
}

/** Everyone in a direct conversation, in a fixed order. */
export function directGroup(senderId: number, others: readonly number[]): number[] {
  return [...new Set([senderId, ...others])].sort((a, b) => a - b);
}

function viewOf(params: Params) {
  params.optional("client_gravatar");
  return {
    applyMarkdown: params.flag("apply_markdown", true),
    emptyTopicName: params.flag("allow_empty_topic_name", false),
  };
}

/** With the reader's flags, as history has it. */
function historyShape(
  world: World,
  message: FakeMessage,
  userId: number,
  view: ReturnType<typeof viewOf>,
): Json {
  return { ...messageShape(world, message, view), flags: flagsFor(message, userId) };
}

function getMessages({ world, user, params }: Call): Json {
  const terms = readNarrow(params.json("narrow"));
  const anchorText = params.text("anchor");
  const before = params.integer("num_before") ?? 0;
  const after = params.integer("num_after") ?? 0;
  if (before + after > 5_000) throw new ZulipRefusal("Too many messages requested (maximum 5000).");
  const includeAnchor = params.flag("include_anchor", true);
  const view = viewOf(params);
  // Only a narrow to channels finds what the user never received.
  const withHistory = terms.some(({ operator }) => ["channel", "stream", "channels"].includes(operator)) &&
    !terms.some(({ operator }) => operator === "is");
  const all = [...world.messages.values()]
    .filter((message) =>
      (withHistory ? world.maySee(user.id, message) : message.rows.has(user.id)) &&
      matchesNarrow(world, user.id, message, terms)
    );
  const anchor = anchorText === "oldest" ? 0 : /^\d+$/.test(anchorText) ? Number(anchorText) : 1e16;
  const older = all.filter((m) => m.id < anchor);
  const newer = all.filter((m) => m.id > anchor);
  const exact = all.filter((m) => m.id === anchor && includeAnchor);
  // With `newest` and `oldest` the anchor message itself counts among those asked for.
  const messages = [...(before === 0 ? [] : older.slice(-before)), ...exact, ...newer.slice(0, after)];
  return {
    messages: messages.map((message) => historyShape(world, message, user.id, view)),
    anchor,
    found_anchor: exact.length > 0,
    found_oldest: older.length <= before,
    found_newest: newer.length <= after,
    history_limited: false,
  };
}

function readNarrow(value: unknown): NarrowTerm[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new ZulipRefusal("narrow is not a list");
  return value.map((term: unknown) => {
    if (Array.isArray(term)) return { operator: String(term[0]), operand: term[1] };
    if (typeof term !== "object" || term === null || !("operator" in term) || !("operand" in term)) {
      throw new ZulipRefusal("narrow: bad term");
    }
    return {
      operator: String(term.operator),
      operand: term.operand,
      negated: "negated" in term && term.negated === true,
    };
  });
}

function getMessage({ world, user, params, id }: Call): Json {
  const message = world.readable(user.id, id);
  const view = viewOf(params);
  return { raw_content: message.content, message: historyShape(world, message, user.id, view) };
}

async function updateMessage({ world, user, params, id }: Call): Promise<Json> {
  const message = world.readable(user.id, id);
  const content = params.optional("content");
  const topic = params.optional("topic");
  const channelId = params.integer("stream_id");
  const mode = params.optional("propagate_mode") ?? "change_one";
  const notify = params.flag("send_notification_to_new_thread", true);
  params.optional("send_notification_to_old_thread");
  if (mode !== "change_one" && mode !== "change_later" && mode !== "change_all") {
    throw new ZulipRefusal("Invalid propagate_mode");
  }
  if (content !== undefined && channelId !== undefined) {
    throw new ZulipRefusal("Cannot change message content while changing channel");
  }
  const moves = topic !== undefined || channelId !== undefined;
  if (content === undefined && !moves) throw new ZulipRefusal("Nothing to change");
  const expected = params.optional("prev_content_sha256");
  if (expected !== undefined && expected !== await sha256(message.content)) {
    throw new ZulipRefusal("'prev_content_sha256' value does not match the expected value.", {
      code: "EXPECTATION_MISMATCH",
    });
  }
  if (content !== undefined) editContent(world, user, message, content);
  if (moves) move(world, user, message, { topic, channelId, mode, notify });
  return { detached_uploads: [] };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(digest).toString("hex");
}

function deleteMessage({ world, user, id }: Call): Json {
  remove(world, user, world.readable(user.id, id));
  return {};
}

function addReaction({ world, user, params, id }: Call): Json {
  react(world, user, world.readable(user.id, id), emojiFrom(params));
  return {};
}

function removeReaction({ world, user, params, id }: Call): Json {
  unreact(world, user, world.readable(user.id, id), emojiFrom(params));
  return {};
}

function emojiFrom(params: Params) {
  return {
    name: params.text("emoji_name"),
    code: params.optional("emoji_code"),
    type: params.optional("reaction_type"),
  };
}

function setTyping({ world, user, params }: Call): Json {
  const op = params.text("op");
  if (op !== "start" && op !== "stop") throw new ZulipRefusal("Invalid op");
  const type = params.optional("type") ?? "direct";
  if (type === "channel" || type === "stream") {
    const channel = world.channel(params.integer("stream_id") ?? -1);
    typing(world, user, op, { channelId: channel.id, topic: params.text("topic") });
  } else {
    const to = params.json("to");
    const ids = Array.isArray(to) ? to.map((id) => world.findUser(Number(id)).id) : [];
    if (ids.length === 0) throw new ZulipRefusal("Empty 'to' list");
    typing(world, user, op, { userIds: directGroup(user.id, ids) });
  }
  return {};
}

function getUsers({ world, params }: Call): Json {
  params.optional("client_gravatar");
  return { members: [...world.users.values()].map(userShape) };
}

function getMe({ world, user }: Call): Json {
  return ownUserShape(user, newestReadable(world, user));
}

function getSubscriptions({ world, user }: Call): Json {
  const own = [...world.channels.values()].filter((channel) =>
    channel.subscribers.has(user.id) && !channel.isArchived
  );
  return { subscriptions: own.map(subscriptionShape) };
}

function getTopics({ world, id }: Call): Json {
  const newest = new Map<string, number>();
  for (const message of world.messagesIn(id)) {
    if ("channelId" in message.place) newest.set(message.place.topic, message.id);
  }
  return {
    topics: [...newest].map(([name, max_id]) => ({ name, max_id })).sort((a, b) => b.max_id - a.max_id),
  };
}

function getStreams({ world, user }: Call): Json {
  const seen = [...world.channels.values()].filter((c) =>
    !c.isArchived && (!c.isPrivate || c.subscribers.has(user.id))
  );
  return { streams: seen.map(channelShape) };
}

/** The body of an outgoing webhook for a message, byte for byte what a server sends. */
export function webhookBody(world: World, bot: FakeUser, message: FakeMessage, token: string): Json {
  return {
    data: message.content,
    trigger: "userIds" in message.place ? "direct_message" : "mention",
    token,
    message: {
      ...messageShape(world, message, { applyMarkdown: false, emptyTopicName: true }),
      rendered_content: render(message.content),
    },
    bot_email: bot.email,
    bot_full_name: bot.fullName,
  };
}
