/**
 * The state of the fake Zulip realm: accounts, channels, messages, and the rule of who may see what.
 *
 * Holds rows and answers questions about them; changes to messages are in `messages.ts`, event queues in `queues.ts`. Timestamps come from the given
 * clock. Refusals are `ZulipRefusal`, with the codes and texts of a real server.
 */
import { EventQueues } from "./queues.ts";

/** A refusal as the API words it. */
export class ZulipRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    msg: string,
    options: { status?: number; code?: string; extra?: Record<string, unknown> } = {},
  ) {
    super(msg);
    this.status = options.status ?? 400;
    this.code = options.code ?? "BAD_REQUEST";
    this.extra = options.extra ?? {};
  }
}

export interface FakeUser {
  readonly id: number;
  readonly email: string;
  fullName: string;
  readonly apiKey: string;
  readonly isBot: boolean;
  /** 1 generic, 3 outgoing webhook; null for people. */
  readonly botType: 1 | 3 | null;
  readonly ownerId: number | null;
  /** 100 owner, 400 member. */
  readonly role: 100 | 400;
  isActive: boolean;
}

export interface FakeChannel {
  readonly id: number;
  name: string;
  readonly isPrivate: boolean;
  isArchived: boolean;
  readonly subscribers: Set<number>;
}

export type FakePlace =
  | { readonly channelId: number; readonly topic: string }
  /** Sorted, the sender included. */
  | { readonly userIds: readonly number[] };

export interface FakeReaction {
  readonly userId: number;
  readonly name: string;
  readonly code: string;
  readonly type: string;
}

export interface FakeMessage {
  readonly id: number;
  readonly senderId: number;
  place: FakePlace;
  content: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly client: string;
  reactions: FakeReaction[];
  readonly submessages: { id: number; senderId: number; msgType: string; content: string }[];
  /** Newest first. */
  readonly history: {
    timestamp: number;
    userId: number;
    prevContent?: string;
    prevTopic?: string;
    prevChannelId?: number;
  }[];
  lastEditTimestamp: number | null;
  lastMovedTimestamp: number | null;
  /** Users with a row of their own for the message. */
  readonly rows: Set<number>;
  readonly mentioned: Set<number>;
}

/** What the fake realm allows; the defaults are a real realm's. */
export interface RealmLimits {
  maxMessageLength: number;
  maxTopicLength: number;
  /** Null: no limit. */
  editLimitSeconds: number | null;
  deleteLimitSeconds: number | null;
  idleQueueSeconds: number;
  longPollSeconds: number;
}

export const NOTIFICATION_BOT_ID = 6;

export class World {
  readonly users = new Map<number, FakeUser>();
  readonly channels = new Map<number, FakeChannel>();
  readonly messages = new Map<number, FakeMessage>();
  readonly queues: EventQueues;
  readonly limits: RealmLimits;
  featureLevel = 421;
  version = "11.4";
  nextMessageId = 1_001;
  #nextUserId = 10;
  #nextChannelId = 1;
  readonly now: () => number;

  /** `now`: milliseconds since the epoch. `changed` is called after every change. */
  constructor(now: () => number, changed: () => void, limits: Partial<RealmLimits> = {}) {
    this.now = now;
    this.limits = {
      maxMessageLength: 10_000,
      maxTopicLength: 60,
      editLimitSeconds: 600,
      deleteLimitSeconds: 600,
      idleQueueSeconds: 600,
      longPollSeconds: 90,
      ...limits,
    };
    this.queues = new EventQueues(now, changed);
  }

  seconds(): number {
    return Math.floor(this.now() / 1_000);
  }

  addUser(
    fullName: string,
    options: Partial<Pick<FakeUser, "email" | "apiKey" | "botType" | "role" | "ownerId">> = {},
  ) {
    const id = this.#nextUserId++;
    const botType = options.botType ?? null;
    const user: FakeUser = {
      id,
      fullName,
      email: options.email ?? `${fullName.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}@zulip.test`,
      apiKey: options.apiKey ?? `key-of-${id}-${"0".repeat(20)}`,
      isBot: botType !== null,
      botType,
      ownerId: options.ownerId ?? null,
      role: options.role ?? 400,
      isActive: true,
    };
    this.users.set(id, user);
    return user;
  }

  addChannel(
    name: string,
    options: { isPrivate?: boolean; subscribers?: readonly FakeUser[] } = {},
  ): FakeChannel {
    const channel: FakeChannel = {
      id: this.#nextChannelId++,
      name,
      isPrivate: options.isPrivate ?? false,
      isArchived: false,
      subscribers: new Set((options.subscribers ?? []).map((user) => user.id)),
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  user(id: number): FakeUser {
    const user = this.users.get(id);
    if (!user) throw new ZulipRefusal("No such user");
    return user;
  }

  /** By id, e-mail or full name. */
  findUser(key: number | string): FakeUser {
    const user = [...this.users.values()].find((u) => u.id === key || u.email === key || u.fullName === key);
    if (!user) throw new ZulipRefusal(`Invalid user '${key}'`);
    return user;
  }

  channel(key: number | string): FakeChannel {
    const channel = typeof key === "number"
      ? this.channels.get(key)
      : [...this.channels.values()].find((c) => c.name.toLowerCase() === key.toLowerCase());
    if (channel) return channel;
    throw typeof key === "number"
      ? new ZulipRefusal(`Channel with ID '${key}' does not exist`, {
        code: "STREAM_DOES_NOT_EXIST",
        extra: { stream_id: key },
      })
      : new ZulipRefusal(`Channel '${key}' does not exist`, {
        code: "STREAM_DOES_NOT_EXIST",
        extra: { stream: key },
      });
  }

  /** A message that the user may read. */
  readable(userId: number, messageId: number): FakeMessage {
    const message = this.messages.get(messageId);
    if (!message || !this.maySee(userId, message)) throw new ZulipRefusal("Invalid message(s)");
    return message;
  }

  maySee(userId: number, message: FakeMessage): boolean {
    if (message.rows.has(userId)) return true;
    if (!("channelId" in message.place)) return false;
    const channel = this.channels.get(message.place.channelId);
    return channel !== undefined && (!channel.isPrivate || channel.subscribers.has(userId));
  }

  /** Whether later events about the message (edits, reactions, deletion) reach the user. */
  followsMessage(userId: number, message: FakeMessage): boolean {
    if (message.rows.has(userId)) return true;
    return "channelId" in message.place &&
      (this.channels.get(message.place.channelId)?.subscribers.has(userId) ?? false);
  }

  /** In ascending order; topics compare without regard to case. */
  messagesIn(channelKey: number | string, topic?: string): FakeMessage[] {
    const channel = this.channel(channelKey);
    return [...this.messages.values()].filter(({ place }) =>
      "channelId" in place && place.channelId === channel.id &&
      (topic === undefined || place.topic.toLowerCase() === topic.toLowerCase())
    );
  }
}
