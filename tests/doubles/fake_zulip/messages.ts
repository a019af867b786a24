/**
 * What can be done to messages of the fake realm, and the events that each act raises.
 *
 * The rules are a real server's: bodies are trimmed and cut without a word, only authors edit, edits and deletions have a time limit, a topic is a string
 * that moves with its messages, an event reaches those who have the message or subscribe to its channel.
 */
import { flagsFor, messageShape, render, shownTopic } from "./shapes.ts";
import {
  type FakeMessage,
  type FakePlace,
  type FakeUser,
  NOTIFICATION_BOT_ID,
  type World,
  ZulipRefusal,
} from "./world.ts";

export interface SendOptions {
  readonly client?: string;
  /** Echoed as `local_message_id` to this queue only. */
  readonly localId?: string | undefined;
  readonly queueId?: string | undefined;
  readonly widgetContent?: string | undefined;
}

/** Stores a message and tells everyone who is to know. `sender` may be the Notification Bot's id. */
export function send(
  world: World,
  sender: number,
  place: FakePlace,
  content: string,
  options: SendOptions = {},
) {
  const body = storedBody(world, content);
  const target = "channelId" in place ? { ...place, topic: storedTopic(world, place.topic) } : place;
  const mentioned = mentionedIn(world, body);
  const message: FakeMessage = {
    id: world.nextMessageId++,
    senderId: sender,
    place: target,
    content: body,
    timestamp: world.seconds(),
    client: options.client ?? "website",
    reactions: [],
    submessages: [],
    history: [],
    lastEditTimestamp: null,
    lastMovedTimestamp: null,
    rows: rowsFor(world, sender, target, mentioned),
    mentioned,
  };
  if (options.widgetContent !== undefined) {
    message.submessages.push({
      id: message.id * 10,
      senderId: sender,
      msgType: "widget",
      content: options.widgetContent,
    });
  }
  world.messages.set(message.id, message);
  world.queues.publish("message", (queue) => {
    const channelIsOpen = "channelId" in target && !world.channel(target.channelId).isPrivate;
    if (!message.rows.has(queue.userId) && !(queue.allPublicStreams && channelIsOpen)) return null;
    return {
      type: "message",
      message: messageShape(world, message, queue),
      flags: flagsFor(message, queue.userId),
      ...(options.localId !== undefined && options.queueId === queue.id
        ? { local_message_id: options.localId }
        : {}),
    };
  });
  return message;
}

/** Python's `rstrip`, no leading newlines, cut at the limit. */
function storedBody(world: World, content: string): string {
  const body = content.trimEnd().replace(/^\n+/, "");
  if (body === "") throw new ZulipRefusal("Message must not be empty");
  if (body.includes("\0")) throw new ZulipRefusal("Message must not contain null bytes");
  return cut(body, world.limits.maxMessageLength, "\n[message truncated]");
}

function storedTopic(world: World, topic: string): string {
  const name = topic.trim();
  const position = [...name].findIndex((point) => /\p{Cc}|\p{Cs}|\p{Cn}/u.test(point));
  if (position >= 0) throw new ZulipRefusal(`Invalid character in topic, at position ${position + 1}!`);
  if (name === "(no topic)" || name === "general chat") return "";
  return cut(name, world.limits.maxTopicLength, "...");
}

function cut(text: string, limit: number, mark: string): string {
  const points = [...text];
  return points.length <= limit ? text : points.slice(0, limit - mark.length).join("") + mark;
}

function mentionedIn(world: World, body: string): Set<number> {
  const prose = body.replaceAll(/```[\s\S]*?```/g, "").replaceAll(/`[^`]*`/g, "");
  const ids = [...world.users.values()].filter((user) =>
    [`@**${user.fullName}**`, `@**${user.fullName}|${user.id}**`, `@**|${user.id}**`].some((t) =>
      prose.includes(t)
    )
  );
  return new Set(ids.map((user) => user.id));
}

/** Subscribers, the sender, and who is mentioned; an outgoing-webhook bot never has a row. */
function rowsFor(
  world: World,
  sender: number,
  place: FakePlace,
  mentioned: ReadonlySet<number>,
): Set<number> {
  const ids = "channelId" in place
    ? [...world.channel(place.channelId).subscribers, sender, ...mentioned]
    : [...place.userIds, sender];
  return new Set(ids.filter((id) => world.users.get(id)?.botType !== 3));
}

/** Replaces the content, as its author. */
export function editContent(world: World, editor: FakeUser, message: FakeMessage, content: string): void {
  if (message.senderId !== editor.id) {
    throw new ZulipRefusal("You don't have permission to edit this message");
  }
  if (message.submessages.length > 0) throw new ZulipRefusal("Widgets cannot be edited.");
  const limit = world.limits.editLimitSeconds;
  if (limit !== null && world.seconds() - message.timestamp > limit + 20) {
    throw new ZulipRefusal("The time limit for editing this message has passed");
  }
  const body = content.trim() === "" ? "(deleted)" : storedBody(world, content);
  const before = message.content;
  message.content = body;
  message.lastEditTimestamp = world.seconds();
  message.history.unshift({ timestamp: world.seconds(), userId: editor.id, prevContent: before });
  publishUpdate(world, editor.id, message, [message.id], {
    orig_content: before,
    orig_rendered_content: render(before),
    content: body,
    rendered_content: render(body),
    is_me_message: body.startsWith("/me "),
  });
}

export type PropagateMode = "change_one" | "change_later" | "change_all";

export interface MoveTarget {
  readonly topic?: string | undefined;
  readonly channelId?: number | undefined;
  readonly mode: PropagateMode;
  /** Notification Bot posts where the messages went. */
  readonly notify?: boolean;
}

/** Renames or moves; resolving is renaming. Returns the ids that moved, ascending. */
export function move(world: World, editor: FakeUser, message: FakeMessage, target: MoveTarget): number[] {
  const from = message.place;
  if (!("channelId" in from)) throw new ZulipRefusal("Direct messages cannot have topics.");
  const to = {
    channelId: target.channelId ?? from.channelId,
    topic: target.topic === undefined ? from.topic : storedTopic(world, target.topic),
  };
  world.channel(to.channelId);
  if (to.channelId === from.channelId && to.topic === from.topic) throw new ZulipRefusal("Nothing to change");
  const moved = world.messagesIn(from.channelId, from.topic).filter((m) =>
    target.mode === "change_all" || m.id === message.id ||
    (target.mode === "change_later" && m.id > message.id)
  );
  const subscribers = new Set(world.channel(from.channelId).subscribers);
  for (const m of moved) {
    m.place = to;
    m.lastMovedTimestamp = world.seconds();
    m.history.unshift({
      timestamp: world.seconds(),
      userId: editor.id,
      ...(to.topic === from.topic ? {} : { prevTopic: from.topic }),
      ...(to.channelId === from.channelId ? {} : { prevChannelId: from.channelId }),
    });
  }
  const ids = moved.map((m) => m.id);
  world.queues.publish("update_message", (queue) => {
    if (!message.rows.has(queue.userId) && !subscribers.has(queue.userId)) return null;
    return {
      ...updateBase(world, editor.id, message, ids, queue.userId),
      stream_id: from.channelId,
      stream_name: world.channels.get(from.channelId)?.name ?? "",
      propagate_mode: target.mode,
      orig_subject: shownTopic(from.topic, queue),
      ...(to.topic === from.topic ? {} : { subject: shownTopic(to.topic, queue), topic_links: [] }),
      ...(to.channelId === from.channelId ? {} : { new_stream_id: to.channelId }),
    };
  });
  announceMove(world, editor, from, to, target.notify ?? false);
  return ids;
}

type ChannelPlace = { readonly channelId: number; readonly topic: string };

function announceMove(
  world: World,
  editor: FakeUser,
  from: ChannelPlace,
  to: ChannelPlace,
  notify: boolean,
): void {
  const silent = `@_**${editor.fullName}|${editor.id}**`;
  if (from.channelId === to.channelId && to.topic === `✔ ${from.topic}`) {
    send(world, NOTIFICATION_BOT_ID, to, `${silent} has marked this topic as resolved.`, {
      client: "Internal",
    });
  } else if (from.channelId === to.channelId && from.topic === `✔ ${to.topic}`) {
    send(world, NOTIFICATION_BOT_ID, to, `${silent} has marked this topic as unresolved.`, {
      client: "Internal",
    });
  } else if (notify) {
    send(world, NOTIFICATION_BOT_ID, to, `This topic was moved here by ${silent}.`, { client: "Internal" });
  }
}

function publishUpdate(
  world: World,
  editorId: number | null,
  message: FakeMessage,
  ids: readonly number[],
  fields: Record<string, unknown>,
): void {
  world.queues.publish("update_message", (queue) => {
    if (!world.followsMessage(queue.userId, message)) return null;
    const { place } = message;
    return {
      ...updateBase(world, editorId, message, ids, queue.userId),
      ...("channelId" in place
        ? { stream_id: place.channelId, stream_name: world.channels.get(place.channelId)?.name ?? "" }
        : {}),
      ...fields,
    };
  });
}

function updateBase(
  world: World,
  editorId: number | null,
  message: FakeMessage,
  ids: readonly number[],
  viewerId: number,
) {
  return {
    type: "update_message",
    user_id: editorId,
    edit_timestamp: world.seconds(),
    message_id: message.id,
    message_ids: ids,
    flags: flagsFor(message, viewerId),
    rendering_only: false,
  };
}

/** A link preview arrives: the event that changes nothing. */
export function renderPreview(world: World, message: FakeMessage): void {
  world.queues.publish("update_message", (queue) => {
    if (!world.followsMessage(queue.userId, message)) return null;
    const base = updateBase(world, null, message, [message.id], queue.userId);
    return {
      ...base,
      rendering_only: true,
      content: message.content,
      rendered_content: render(message.content),
    };
  });
}

/** Deletes, as the author within the limit, the author bot's owner, or a realm owner. */
export function remove(world: World, actor: FakeUser, message: FakeMessage): void {
  const ownsBot = world.users.get(message.senderId)?.ownerId === actor.id;
  if (actor.role !== 100 && !ownsBot) {
    if (message.senderId !== actor.id) {
      throw new ZulipRefusal("You don't have permission to delete this message");
    }
    const limit = world.limits.deleteLimitSeconds;
    if (limit !== null && world.seconds() - message.timestamp > limit) {
      throw new ZulipRefusal("The time limit for deleting this message has passed");
    }
  }
  world.messages.delete(message.id);
  world.queues.publish("delete_message", (queue) => {
    if (!world.followsMessage(queue.userId, message)) return null;
    const { place } = message;
    return {
      type: "delete_message",
      ...(queue.bulkDeletion ? { message_ids: [message.id] } : { message_id: message.id }),
      ...("channelId" in place
        ? { message_type: "stream", stream_id: place.channelId, topic: shownTopic(place.topic, queue) }
        : { message_type: "private" }),
    };
  });
}
