/**
 * The Zulip gateway: one event queue in, answers, notes and cards out. It owns the topic journal and the posts. What arrives is committed
 * before the queue is told to forget it; what is posted was committed as an intent before. Messages of one conversation are handled in
 * order; a streamed answer's edits share their lane. Proven by `gateway_test.ts` against the fake server, and by the end-to-end tests.
 */
import { backoffMs } from "../../lib/backoff.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Delivery, Effects, Envelope, Gateway, GatewayContext, Send } from "../../runtime/actor.ts";
import type { StatusRow, TopicRow } from "../../store/reads/zulip.ts";
import type { Op } from "../../store/ops.ts";
import type { Narrow, ZulipClient } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { type EventCursor, runEventLoop } from "../../zulip/event_loop.ts";
import type { RegisterReason } from "../../zulip/loop_policy.ts";
import type { EventOf, ZulipEvent } from "../../zulip/wire/events.ts";
import { Message } from "../../zulip/wire/messages.ts";
import type { Registration, User } from "../../zulip/wire/register.ts";
import type { Message as Incoming } from "../protocol.ts";
import type { CardShow, TopicNote } from "../protocol/zulip.ts";
import { Answers } from "./answer.ts";
import { renderCard } from "./card.ts";
import type { ZulipConfig } from "./config.ts";
import { EditBudget } from "./edit_budget.ts";
import { type Arrival, type Intake, intake } from "./intake.ts";
import { Journal } from "./journal.ts";
import { Lanes } from "./lanes.ts";
import { Poster } from "./poster.ts";
import { Roster } from "./roster.ts";

/** What the composition hands in. */
export interface ZulipGatewayDeps {
  readonly config: ZulipConfig;
  readonly client: ZulipClient;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Start {
  readonly topics: readonly TopicRow[];
  readonly mark: number | null;
  readonly cursor: EventCursor | null;
}

/** Makes the gateway. `compose` turns the start message's configuration into what it works with; `start` connects. */
export function zulipGateway(compose: (config: unknown) => ZulipGatewayDeps): Gateway {
  let actor: ZulipActor | undefined;
  return {
    async start(context) {
      actor = new ZulipActor(compose(context.config), context);
      await actor.start();
    },
    keyOf: (message) => keyOf(message),
    handle: async (delivery) => await actor?.handle(delivery),
    ephemeral: (message) => actor?.ephemeral(message),
    async stop() {
      await actor?.stopped;
      actor?.deps.client.close();
    },
  };
}

/** Everything about one conversation is one lane; what has none comes in through one of its own. */
function keyOf(message: Envelope): string {
  // The supervisor parsed the payload against the catalogue; narrowing by `type` is what makes the union of it.
  const incoming = message as Incoming;
  switch (incoming.type) {
    case "topic.note":
    case "card.show":
      return incoming.payload.conversation;
    case "zulip.received":
      return "intake";
    default:
      return conversationOf(message.from);
  }
}

function conversationOf(ref: string): string {
  return ref.startsWith("conversation/") ? ref.slice("conversation/".length) : ref;
}

class ZulipActor {
  /** Resolves when the event loop has ended. */
  stopped: Promise<void> = Promise.resolve();
  readonly #lanes = new Lanes();
  readonly #roster: Roster;
  readonly #realm: string;
  readonly #poster: Poster;
  readonly #answers: Answers;
  #journal: Journal;
  #bot: User | undefined;
  #queueId: string | null = null;
  #maxMessageLength = 10_000;
  #mark: number | null = null;
  #newest = 0;
  readonly #connected = Promise.withResolvers<void>();

  constructor(readonly deps: ZulipGatewayDeps, readonly context: GatewayContext) {
    this.#realm = new URL(deps.config.site).origin;
    this.#roster = new Roster(deps.config.channels);
    this.#journal = new Journal(this.#realm, []);
    this.#poster = this.#newPoster();
    this.#answers = this.#newAnswers();
  }

  async start(): Promise<void> {
    // `store/reads/zulip.ts` declares this read's answer.
    const loaded = await this.context.read("zulip.start", { realm: this.#realm }) as Start;
    this.#journal = new Journal(this.#realm, loaded.topics);
    this.#mark = loaded.mark;
    this.#newest = loaded.mark ?? 0;
    this.stopped = this.#run(loaded.cursor).catch((error) => {
      if (this.context.signal.aborted) return;
      // The runtime's part: a rejection here ends the process, and the supervisor starts it again.
      this.context.log("error", "the Zulip connection ended", { cause: String(error) });
      reportError(error);
    });
  }

  async handle(delivery: Delivery): Promise<Effects> {
    await this.#connected.promise;
    const incoming = delivery.message as Incoming; // parsed by the supervisor against the catalogue
    switch (incoming.type) {
      case "zulip.received": {
        const message = Message.safeParse(incoming.payload.message);
        if (!message.success) return {};
        this.#saw(message.data.id);
        return await this.#take(message.data, { mark: null, flagged: true });
      }
      case "topic.answer": {
        const conversation = conversationOf(incoming.from);
        await this.#lanes.run(conversation, () => this.#answers.finish(conversation, incoming.payload));
        return {};
      }
      case "topic.note":
        return await this.#lanes.run(incoming.payload.conversation, () => this.#note(incoming.payload));
      case "card.show":
        return await this.#lanes.run(incoming.payload.conversation, () => this.#card(incoming.payload));
      default:
        return {};
    }
  }

  ephemeral(message: Envelope): void {
    const incoming = message as Incoming; // parsed by the supervisor against the catalogue
    if (incoming.type !== "topic.progress" || !this.#bot) return;
    const conversation = conversationOf(incoming.from);
    // A progress that finds its lane busy is out of date before it could be shown.
    if (this.#lanes.busy(conversation) || !this.context.mayAct()) return;
    this.#lanes.run(conversation, () => this.#answers.progress(conversation, incoming.payload)).catch(
      (error) => {
        if (!this.context.signal.aborted) {
          this.context.log("warn", "progress could not be shown", { cause: String(error) });
        }
      },
    );
  }

  async #run(cursor: EventCursor | null): Promise<void> {
    const { client, clock, random } = this.deps;
    await this.#meetWhenPossible();
    if (cursor) {
      this.#queueId = cursor.queueId;
      this.#connected.resolve();
    }
    const end = await runEventLoop({
      client,
      clock,
      random,
      signal: this.context.signal,
      registration: { idleQueueSeconds: 600 },
      ...(cursor ? { resume: cursor } : {}),
      onRegistered: (registration, why) => this.#registered(registration, why),
      onEvent: async (event, next) => await this.#event(event, next),
      gap: {
        mark: () => Promise.resolve(this.#mark),
        narrows: () => Promise.resolve(this.#narrows()),
        onMessages: async (page) => {
          for (const message of page) await this.#fromQueue(message, message.flags ?? []);
        },
      },
      onProblem: (problem) => {
        if (problem.kind === "call_failed") {
          this.context.log("warn", "Zulip call failed", {
            phase: problem.phase,
            why: problem.failure.kind,
            waitMs: problem.waitMs,
          });
        } else if (problem.kind === "unreadable_event") {
          this.context.log("warn", "an event could not be read", {
            name: problem.name,
            reason: problem.reason,
          });
        } else {this.context.log("error", "an event was not handled", {
            attempt: problem.attempt,
            cause: String(problem.error),
          });}
      },
    });
    if (end.reason !== "aborted") throw new Error(`the Zulip account can no longer be used: ${end.reason}`);
  }

  /** Who we are, who else is there, and which channels are served; tried until it works, since nothing can be judged without it. */
  async #meetWhenPossible(): Promise<void> {
    for (let tries = 0;; tries++) {
      try {
        return await this.#meet();
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        const waitMs = error.failure.kind === "rate_limited"
          ? error.failure.retryAfterMs
          : backoffMs(tries, { baseMs: 500, capMs: 30_000, random: this.deps.random });
        this.context.log("error", "cannot reach Zulip yet", { cause: error.message, waitMs });
        await sleep(this.deps.clock, waitMs, this.context.signal);
      }
    }
  }

  async #meet(): Promise<void> {
    const { client, config } = this.deps;
    const [me, users, subscriptions, visible] = await Promise.all([
      client.me(),
      client.users(),
      client.subscriptions(),
      client.streams(),
    ]);
    this.#bot = me;
    const missing = this.#roster.reset(users, subscriptions, visible);
    if (missing.length > 0) {
      this.context.log("error", "ZULIP_CHANNELS names channels that the bot cannot see", {
        channels: missing.join(", "),
      });
    }
    this.context.log("info", "connected to Zulip", {
      bot: me.fullName,
      channels: this.#roster.served().length,
      dms: config.dms,
    });
  }

  /** A new queue. What happened to people and channels before it is read again. */
  async #registered(registration: Registration, why: RegisterReason): Promise<void> {
    if (why !== "first") await this.#meet();
    this.#queueId = registration.queueId;
    this.#maxMessageLength = registration.maxMessageLength;
    if (this.#mark === null) {
      // Everything before the very first start is history that nobody asked us about.
      this.#mark = Math.max(0, registration.maxMessageId ?? 0);
      await this.#must({ ops: [markOp(this.#realm, this.#mark)] });
    }
    this.#saw(registration.maxMessageId ?? 0);
    this.#connected.resolve();
  }

  async #event(event: ZulipEvent, cursor: EventCursor): Promise<void> {
    this.#roster.follow(event);
    if (event.type === "heartbeat") return;
    if (event.type === "message") {
      if (event.message.senderId === this.#bot?.id && event.localMessageId !== null) {
        await this.#poster.echoed(event.localMessageId, event.message.id);
        await this.#catchUp(event.localMessageId, event.message);
      }
      return await this.#fromQueue(event.message, event.flags, cursor);
    }
    const effects = this.#effectsOf(event);
    await this.#must({ ...effects, ops: [...(effects.ops ?? []), cursorOp(this.#realm, cursor)] });
  }

  /** A post that crossed a rename on its way stands under the old name, all alone: it is moved after its topic. */
  async #catchUp(localId: string, { id, place }: Message): Promise<void> {
    const conversation = (await this.#poster.named(localId))?.conversation ?? "";
    const target = this.#journal.targetOf(conversation);
    if (
      place.kind !== "channel" || !target || !("topic" in target) || this.#journal.at(place) === conversation
    ) return;
    const elsewhere = target.channelId === place.channelId ? {} : { channelId: target.channelId };
    await this.deps.client.moveMessage(id, { topic: target.topic, ...elsewhere, propagateMode: "change_one" })
      .catch((error) =>
        this.context.log("warn", "a post could not follow its topic", { messageId: id, cause: String(error) })
      );
  }

  #effectsOf(event: ZulipEvent): Effects {
    if (event.type === "update_message") return this.#moved(event);
    if (event.type === "reaction" && event.op === "add") return this.#reacted(event);
    return {};
  }

  #moved(event: EventOf<"update_message">): Effects {
    const { ops, retired } = this.#journal.move(event, (channelId) => this.#roster.serves(channelId));
    const stop = retired.map((conversation): Send => ({
      to: `conversation/${conversation}`,
      type: "conversation.stop",
      payload: {
        by: { kind: "zulip", id: String(event.userId ?? 0), name: this.#roster.nameOf(event.userId ?? 0) },
      },
    }));
    return { ops, send: stop };
  }

  /** Whether the message is a card, and whether this person may, is for approval to know: it keeps the card's message id. */
  #reacted(event: EventOf<"reaction">): Effects {
    if (event.userId === this.#bot?.id || this.#roster.isBot(event.userId)) return {};
    const { allowedUserIds } = this.deps.config;
    if (allowedUserIds.length > 0 && !allowedUserIds.includes(event.userId)) return {};
    return {
      send: [{
        to: "approval",
        type: "approval.react",
        payload: {
          messageId: event.messageId,
          zulipUserId: event.userId,
          name: this.#roster.nameOf(event.userId),
          emoji: event.emojiName,
        },
      }],
    };
  }

  /** A message of the queue or of the gap: committed together with the mark, so that neither is ever ahead of the other. */
  async #fromQueue(message: Message, flags: readonly string[], cursor?: EventCursor): Promise<void> {
    const effects = await this.#take(message, { mark: this.#mark, flagged: flags.includes("mentioned") });
    this.#saw(message.id);
    await this.#must({
      ...effects,
      ops: [
        ...(effects.ops ?? []),
        markOp(this.#realm, message.id),
        ...(cursor ? [cursorOp(this.#realm, cursor)] : []),
      ],
    });
    this.#mark = Math.max(this.#mark ?? 0, message.id);
  }

  async #take(message: Message, arrival: Arrival): Promise<Effects> {
    if (!this.#bot) throw new Error("a message came before the bot knew who it is");
    const taken = intake(message, arrival, {
      realm: this.#realm,
      bot: this.#bot,
      config: this.deps.config,
      journal: this.#journal,
      roster: this.#roster,
      newId: () => this.context.newId(),
    });
    if (taken.dropped) {
      this.context.log("debug", "message passed over", { messageId: message.id, why: taken.dropped });
    }
    await this.#reply(taken);
    return taken.effects;
  }

  /** Replies are the gateway's own words: posted under the message's key, so a message that is handled again gets no second one. */
  async #reply({ reply, check }: Intake): Promise<void> {
    if (reply) {
      const body = reply.status ? await this.#status(reply.conversation) : reply.body;
      // Not awaited: a lost answer of the server must not hold up the queue that will echo it.
      this.#lanes.run(reply.conversation, () => this.#poster.post({ ...reply, body })).catch((error) =>
        this.context.log("warn", "a reply could not be posted", { cause: String(error) })
      );
    }
    if (check !== undefined) {
      await this.deps.client.addReaction(check, { name: "check" }).catch((error) =>
        this.context.log("info", "could not acknowledge a command", { cause: String(error) })
      );
    }
  }

  async #status(conversation: string): Promise<string> {
    // `store/reads/zulip.ts` declares this read's answer.
    const row = await this.context.read("zulip.status", { conversation }) as StatusRow | null;
    const link = this.deps.config.inboxUrl
      ? ` · [open](${this.deps.config.inboxUrl}/conversations/${conversation})`
      : "";
    return `Conversation \`${conversation}\`: **${row?.status ?? "new"}**, ${row?.turns ?? 0} turns${
      row?.model ? `, model \`${row.model}\`` : ""
    }${link}`;
  }

  async #note(note: TopicNote): Promise<Effects> {
    const target = this.#journal.targetOf(note.conversation);
    if (!target) return {};
    const posting = await this.#poster.post({
      key: `note/${note.key}`,
      conversation: note.conversation,
      target,
      body: note.text,
    });
    if (posting.ok) this.#journal.own(note.conversation, posting.messageId);
    return {};
  }

  async #card(item: CardShow): Promise<Effects> {
    const target = this.#journal.targetOf(item.conversation);
    if (!target) return {};
    const card = renderCard(item, this.deps.config);
    const key = `card/${item.itemId}`;
    if (item.state !== "waiting" && !await this.#poster.find(key)) return {};
    const posting = await this.#poster.post({
      key,
      conversation: item.conversation,
      target,
      body: card.body,
    });
    if (!posting.ok) return {};
    this.#journal.own(item.conversation, posting.messageId);
    if (!posting.fresh) {
      await this.deps.client.editMessage(posting.messageId, card.body).catch((error) =>
        this.context.log("info", "a card could not be brought up to date", { cause: String(error) })
      );
    }
    if (item.state !== "waiting") return {};
    if (card.reactable) await this.#offer(posting.messageId);
    return {
      send: [{
        to: "approval",
        type: "card.shown",
        payload: {
          itemId: item.itemId,
          version: item.version,
          messageId: posting.messageId,
          whole: card.whole,
        },
      }],
    };
  }

  /** Puts the two answers under a card, so that deciding is one tap. */
  async #offer(messageId: number): Promise<void> {
    for (const name of ["+1", "-1"]) {
      await this.deps.client.addReaction(messageId, { name }).catch((error) =>
        this.context.log("debug", "could not offer a reaction", { cause: String(error) })
      );
    }
  }

  /** What to read after a lost queue: each served channel, and direct messages when they are on. */
  #narrows(): Narrow[] {
    const channels = this.#roster.served().map((id): Narrow => [{ operator: "channel", operand: id }]);
    return this.deps.config.dms ? [...channels, [{ operator: "is", operand: "dm" }]] : channels;
  }

  #saw(messageId: number): void {
    this.#newest = Math.max(this.#newest, messageId);
  }

  async #must(effects: Effects): Promise<void> {
    const committed = await this.context.commit(effects);
    if (!committed.ok) throw new Error(`not committed: ${committed.error.code}: ${committed.error.message}`);
  }

  #newPoster(): Poster {
    return new Poster({
      client: this.deps.client,
      clock: this.deps.clock,
      botId: () => this.#bot?.id ?? -1,
      settleAfterMs: this.deps.config.settleAfterMs,
      signal: this.context.signal,
      newId: () => this.context.newId(),
      queueId: () => this.#queueId,
      newestId: () => this.#newest,
      maxMessageLength: () => this.#maxMessageLength,
      mayAct: () => this.context.mayAct(),
      commit: (effects) => this.context.commit(effects),
      read: (name, input) => this.context.read(name, input),
      log: (level, text, facts) => this.context.log(level, text, facts),
    });
  }

  #newAnswers(): Answers {
    return new Answers({
      client: this.deps.client,
      poster: this.#poster,
      journal: () => this.#journal,
      clock: this.deps.clock,
      editIntervalMs: this.deps.config.editIntervalMs,
      budget: new EditBudget(this.deps.clock, this.deps.config.editsPerMinute),
      signal: this.context.signal,
      commit: (effects) => this.context.commit(effects),
      log: (level, text, facts) => this.context.log(level, text, facts),
    });
  }
}

function markOp(realm: string, messageId: number): Op {
  return { op: "zulip.mark", realm, messageId };
}

function cursorOp(realm: string, cursor: EventCursor): Op {
  return { op: "zulip.cursor", realm, ...cursor };
}
