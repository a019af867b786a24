/**
 * A Zulip server in memory, for tests and for `deno task dev`.
 *
 * Owns a small realm and serves its REST API on loopback: real long polls, event ids, queue loss, edit limits, moves and resolved topics, and faults on
 * demand. The methods are what people do in the realm, or what goes wrong. `fake_zulip_test.ts` holds every answer and event against Zulip's own
 * specification, so that what passes here is what a server would say.
 */
import { Api, type LoggedCall } from "./api.ts";
import { announceChannel, renameChannel, setSubscribed, typing } from "./channels.ts";
import { control } from "./control.ts";
import { Faults } from "./faults.ts";
import { type RunningServer, serve } from "./http_server.ts";
import { editContent, move, remove, renderPreview, send } from "./messages.ts";
import { react, unreact } from "./reactions.ts";
import { directGroup, webhookBody } from "./routes.ts";
import { userShape } from "./shapes.ts";
import {
  type FakeChannel,
  type FakeMessage,
  type FakePlace,
  type FakeUser,
  NOTIFICATION_BOT_ID,
  type RealmLimits,
  World,
} from "./world.ts";

export type { FakeChannel, FakeMessage, FakeUser, LoggedCall };

export interface FakeZulipOptions {
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
  readonly limits?: Partial<RealmLimits>;
  /** @default 421 */
  readonly featureLevel?: number;
}

/** A user, by object, full name, e-mail or id. */
export type Who = FakeUser | string | number;
/** A channel, by object, name or id. */
export type Where = FakeChannel | string | number;

export class FakeZulip {
  readonly world: World;
  readonly owner: FakeUser;
  readonly hamlet: FakeUser;
  readonly iago: FakeUser;
  /** A generic bot, subscribed to `general` and `ops`. */
  readonly bot: FakeUser;
  readonly general: FakeChannel;
  readonly ops: FakeChannel;
  /** Private, without the bot. */
  readonly vault: FakeChannel;
  readonly #faults = new Faults();
  readonly #api: Api;
  readonly #watchers = new Set<() => void>();

  constructor(options: FakeZulipOptions = {}) {
    const changed = () => this.#watchers.forEach((check) => check());
    this.world = new World(options.now ?? Date.now, changed, options.limits);
    if (options.featureLevel !== undefined) this.world.featureLevel = options.featureLevel;
    this.#api = new Api(this.world, this.#faults, changed);
    this.owner = this.world.addUser("Olivia Owner", { role: 100 });
    this.hamlet = this.world.addUser("King Hamlet");
    this.iago = this.world.addUser("Iago");
    this.bot = this.world.addUser("Callboard", {
      botType: 1,
      ownerId: this.owner.id,
      email: "callboard-bot@zulip.test",
    });
    const people = [this.owner, this.hamlet, this.iago];
    this.general = this.world.addChannel("general", { subscribers: [...people, this.bot] });
    this.ops = this.world.addChannel("ops", { subscribers: [...people, this.bot] });
    this.vault = this.world.addChannel("vault", { isPrivate: true, subscribers: people });
  }

  /** Serves on 127.0.0.1; a port of 0 lets the system choose. */
  start(port = 0): Promise<RunningServer> {
    return serve(async (request) => {
      if (request.path.startsWith("/api/v1/")) {
        return await this.#api.handle(request, request.path.slice("/api/v1".length));
      }
      return await control(this, request);
    }, port);
  }

  // People

  addUser(fullName: string, options: { botType?: 1 | 3; channels?: readonly Where[] } = {}): FakeUser {
    const user = this.world.addUser(
      fullName,
      options.botType ? { botType: options.botType, ownerId: this.owner.id } : {},
    );
    this.world.queues.publish(
      "realm_user",
      () => ({ type: "realm_user", op: "add", person: userShape(user) }),
    );
    for (const channel of options.channels ?? []) this.subscribe(user, channel);
    return user;
  }

  addChannel(name: string, options: { isPrivate?: boolean; subscribers?: readonly Who[] } = {}): FakeChannel {
    const channel = this.world.addChannel(name, { isPrivate: options.isPrivate ?? false });
    announceChannel(this.world, channel);
    for (const who of options.subscribers ?? []) this.subscribe(who, channel);
    return channel;
  }

  subscribe(who: Who, where: Where): void {
    setSubscribed(this.world, this.user(who), this.channel(where), true);
  }

  unsubscribe(who: Who, where: Where): void {
    setSubscribed(this.world, this.user(who), this.channel(where), false);
  }

  renameChannel(where: Where, name: string): void {
    renameChannel(this.world, this.channel(where), name);
  }

  /** The account's key stops working, and everyone hears of it. */
  deactivate(who: Who): void {
    const user = this.user(who);
    user.isActive = false;
    const person = { user_id: user.id, is_active: false };
    this.world.queues.publish("realm_user", () => ({ type: "realm_user", op: "update", person }));
  }

  /** Posts in a channel. `widget`: with a form, as anybody may through the API. */
  say(
    who: Who,
    where: Where,
    topic: string,
    text: string,
    { widget }: { widget?: string } = {},
  ): FakeMessage {
    return send(this.world, this.user(who).id, { channelId: this.channel(where).id, topic }, text, {
      widgetContent: widget,
    });
  }

  /** Posts a direct message to one or more others. */
  dm(from: Who, to: readonly Who[], text: string): FakeMessage {
    const sender = this.user(from).id;
    return this.#send(sender, { userIds: directGroup(sender, to.map((who) => this.user(who).id)) }, text);
  }

  /** A message of the system's own bot. */
  notice(where: Where, topic: string, text: string): FakeMessage {
    return this.#send(NOTIFICATION_BOT_ID, { channelId: this.channel(where).id, topic }, text);
  }

  edit(who: Who, messageId: number, text: string): void {
    editContent(this.world, this.user(who), this.message(messageId), text);
  }

  delete(who: Who, messageId: number): void {
    remove(this.world, this.user(who), this.message(messageId));
  }

  react(who: Who, messageId: number, emoji: string): void {
    react(this.world, this.user(who), this.message(messageId), { name: emoji });
  }

  unreact(who: Who, messageId: number, emoji: string): void {
    unreact(this.world, this.user(who), this.message(messageId), { name: emoji });
  }

  typing(who: Who, where: Where, topic: string, op: "start" | "stop" = "start"): void {
    typing(this.world, this.user(who), op, { channelId: this.channel(where).id, topic });
  }

  /** Renames a whole topic. Returns the ids that moved. */
  renameTopic(who: Who, where: Where, topic: string, to: string): number[] {
    return this.moveTopic(who, where, topic, { topic: to });
  }

  resolveTopic(who: Who, where: Where, topic: string): number[] {
    return this.renameTopic(who, where, topic, `✔ ${topic}`);
  }

  unresolveTopic(who: Who, where: Where, topic: string): number[] {
    return this.renameTopic(who, where, topic, topic.replace(/^✔ /, ""));
  }

  /** Moves a whole topic, or with `from` the messages of it from that id on. */
  moveTopic(
    who: Who,
    where: Where,
    topic: string,
    to: { topic?: string; channel?: Where; from?: number; notify?: boolean },
  ) {
    const anchor = to.from === undefined ? this.messagesIn(where, topic)[0] : this.message(to.from);
    if (!anchor) throw new RangeError(`'topic' has no messages: "${topic}"`);
    return move(this.world, this.user(who), anchor, {
      topic: to.topic,
      channelId: to.channel === undefined ? undefined : this.channel(to.channel).id,
      mode: to.from === undefined ? "change_all" : "change_later",
      notify: to.notify ?? false,
    });
  }

  // The server's own doings

  /** A link preview is rendered: an `update_message` that changes nothing. */
  renderPreview(messageId: number): void {
    renderPreview(this.world, this.message(messageId));
  }

  heartbeat(): void {
    this.world.queues.publish("heartbeat", () => ({ type: "heartbeat" }));
  }

  /** Every queue is gone, as after a crash of the server. */
  loseQueues(): void {
    this.world.queues.loseAll();
  }

  /** The realm is restored from a backup in which `newest` is the last message: later ones are gone, and their numbers are given out again. */
  restore(newest: number): void {
    for (const id of [...this.world.messages.keys()]) if (id > newest) this.world.messages.delete(id);
    this.world.nextMessageId = newest + 1;
    this.loseQueues();
  }

  /** An upgrade: the `restart` event, queues live on. */
  upgrade(version: string, featureLevel: number): void {
    this.world.version = version;
    this.world.featureLevel = featureLevel;
    this.world.queues.publish("restart", () => ({
      type: "restart",
      zulip_version: version,
      zulip_merge_base: version,
      zulip_feature_level: featureLevel,
      server_generation: this.world.seconds(),
    }));
  }

  /** Any event at all, to every queue that asked for its type. */
  emit(event: Record<string, unknown> & { type: string }): void {
    this.world.queues.publish(event.type, () => event);
  }

  /** Keeps events back (echoes too) until the returned function is called. */
  holdEvents(): () => void {
    return this.world.queues.hold();
  }

  /** Polls that wait right now. */
  get waitingPolls(): number {
    return this.world.queues.waiting;
  }

  // Faults; `op` as in the log, `*` for any

  /** Carries the call out and closes the connection without an answer. */
  dropNextResponse(op: string, times = 1): void {
    this.#faults.arm(op, { kind: "drop", stored: true }, times);
  }

  /** Closes the connection without carrying the call out. */
  dropNextRequest(op: string, times = 1): void {
    this.#faults.arm(op, { kind: "drop", stored: false }, times);
  }

  /** Carries the call out and never answers. */
  hangNextResponse(op: string, times = 1): void {
    this.#faults.arm(op, { kind: "hang" }, times);
  }

  rateLimitNext(op: string, retryAfterSeconds: number, times = 1): void {
    this.#faults.arm(op, { kind: "limit", retryAfterSeconds }, times);
  }

  failNext(
    op: string,
    options: { status?: number; stored?: boolean; html?: boolean; times?: number } = {},
  ): void {
    const { status = 502, stored = false, html = false, times = 1 } = options;
    this.#faults.arm(op, { kind: "fail", status, stored, html }, times);
  }

  refuseNext(
    op: string,
    msg: string,
    options: { code?: string; status?: number; times?: number } = {},
  ): void {
    const { code = "BAD_REQUEST", status = 400, times = 1 } = options;
    this.#faults.arm(op, { kind: "refuse", status, code, msg }, times);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  // Looking

  /** Every API call so far, with its answer. */
  get requests(): readonly LoggedCall[] {
    return this.#api.log;
  }

  requestsTo(op: string): LoggedCall[] {
    return this.#api.log.filter((call) => call.op === op);
  }

  user(who: Who): FakeUser {
    return typeof who === "object" ? who : this.world.findUser(who);
  }

  channel(where: Where): FakeChannel {
    return typeof where === "object" ? where : this.world.channel(where);
  }

  /** @throws {RangeError} when there is none (any more). */
  message(id: number): FakeMessage {
    const message = this.world.messages.get(id);
    if (!message) throw new RangeError(`'id' is no message: ${id}`);
    return message;
  }

  /** In ascending order. Without a topic: the whole channel. */
  messagesIn(where: Where, topic?: string): FakeMessage[] {
    return this.world.messagesIn(this.channel(where).id, topic);
  }

  /** The direct messages among exactly these people. */
  directMessages(...who: readonly Who[]): FakeMessage[] {
    const ids = directGroup(this.user(who[0] ?? this.bot).id, who.map((w) => this.user(w).id)).join();
    return [...this.world.messages.values()].filter(({ place }) =>
      "userIds" in place && place.userIds.join() === ids
    );
  }

  /** Resolves with the first truthy value of `predicate`, which is asked again after every change; rejects after `ms`. */
  until<T>(predicate: () => T | undefined | null | false, ms = 5_000): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(check);
        reject(new Error(`still not so after ${ms} ms: ${predicate}`));
      }, ms);
      const check = () => {
        const value = predicate();
        if (!value) return;
        clearTimeout(timer);
        this.#watchers.delete(check);
        resolve(value);
      };
      this.#watchers.add(check);
      check();
    });
  }

  /** Posts a message to an outgoing-webhook endpoint `times` times, as the server does when the answer is late. */
  async deliverWebhook(
    url: string,
    token: string,
    message: FakeMessage,
    times = 1,
  ): Promise<{ status: number; body: string }[]> {
    const answers = [];
    for (let n = 0; n < times; n++) {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": `ZulipOutgoingWebhook/${this.world.version}`,
        },
        body: JSON.stringify(webhookBody(this.world, this.bot, message, token)),
      });
      answers.push({ status: response.status, body: await response.text() });
    }
    return answers;
  }

  #send(senderId: number, place: FakePlace, text: string): FakeMessage {
    return send(this.world, senderId, place, text);
  }
}
