/**
 * Who is a bot and which channels are served, kept up to date from the queue's events. No I/O: the gateway feeds it.
 * Proven by `intake_test.ts`.
 */
import type { ZulipEvent } from "../../zulip/wire/events.ts";
import type { Channel, User } from "../../zulip/wire/register.ts";

/** The people and channels of one realm as far as the gateway cares. */
export class Roster {
  readonly #bots = new Set<number>();
  readonly #names = new Map<number, string>();
  readonly #subscribed = new Map<number, string>();
  readonly #named = new Map<number, string>();
  readonly #everything: boolean;
  readonly #wanted: ReadonlySet<string>;

  /** `channels`: names as configured; `*` stands for every subscription. */
  constructor(channels: readonly string[]) {
    this.#everything = channels.includes("*");
    this.#wanted = new Set(channels.filter((name) => name !== "*").map((name) => name.toLowerCase()));
  }

  /** Takes a fresh snapshot. Returns configured names that no visible channel has. */
  reset(users: readonly User[], subscriptions: readonly Channel[], visible: readonly Channel[]): string[] {
    this.#bots.clear();
    this.#names.clear();
    for (const user of users) this.#user(user.id, user.fullName, user.isBot);
    this.#subscribed.clear();
    for (const channel of subscriptions) this.#subscribed.set(channel.id, channel.name);
    this.#named.clear();
    for (const channel of [...visible, ...subscriptions]) this.#name(channel.id, channel.name);
    const found = new Set([...this.#named.values()].map((name) => name.toLowerCase()));
    return [...this.#wanted].filter((name) => !found.has(name));
  }

  isBot(userId: number): boolean {
    return this.#bots.has(userId);
  }

  /** A person's name, or a stand-in. */
  nameOf(userId: number): string {
    return this.#names.get(userId) ?? `user ${userId}`;
  }

  serves(channelId: number): boolean {
    return this.#named.has(channelId) || (this.#everything && this.#subscribed.has(channelId));
  }

  /** Every served channel's id. */
  served(): number[] {
    return [...new Set([...this.#named.keys(), ...(this.#everything ? this.#subscribed.keys() : [])])];
  }

  /** Follows one event; all but user and channel events change nothing. */
  follow(event: ZulipEvent): void {
    if (event.type === "realm_user") {
      this.#user(
        event.userId,
        event.fullName ?? this.nameOf(event.userId),
        event.isBot ?? this.isBot(event.userId),
      );
    } else if (event.type === "subscription" && event.op === "add") {
      for (const channel of event.channels) {
        this.#subscribed.set(channel.id, channel.name);
        this.#name(channel.id, channel.name);
      }
    } else if (event.type === "subscription" && event.op === "remove") {
      for (const channel of event.channels) this.#subscribed.delete(channel.id);
    } else if (event.type === "stream" && event.op === "create") {
      for (const channel of event.channels) this.#name(channel.id, channel.name);
    } else if (event.type === "stream" && event.op === "delete") {
      for (const channelId of event.channelIds) this.#forget(channelId);
    } else if (event.type === "stream" && event.op === "update" && event.property === "name") {
      if (this.#subscribed.has(event.channelId)) this.#subscribed.set(event.channelId, String(event.value));
      // A served channel stays served under its new name: the configuration meant this channel.
    }
  }

  #user(id: number, name: string, isBot: boolean): void {
    this.#names.set(id, name);
    if (isBot) this.#bots.add(id);
    else this.#bots.delete(id);
  }

  #name(id: number, name: string): void {
    if (this.#wanted.has(name.toLowerCase())) this.#named.set(id, name);
  }

  #forget(id: number): void {
    this.#subscribed.delete(id);
    this.#named.delete(id);
  }
}
