/**
 * What comes in: the event queue, the history of a gap, and single messages from the webhook. Each event is committed before the queue is told
 * to forget it, together with the mark and cursor, so that none of them is ever ahead of the others. Proven by `gateway_test.ts` and `cards_test.ts`.
 */
import type { Effects, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { StatusRow } from "../../store/reads/zulip.ts";
import type { Narrow } from "../../zulip/client.ts";
import { codeSpan } from "../../zulip/markdown.ts";
import { type EventCursor, type LoopProblem, runEventLoop } from "../../zulip/event_loop.ts";
import type { RegisterReason } from "../../zulip/loop_policy.ts";
import type { EventOf, ZulipEvent } from "../../zulip/wire/events.ts";
import type { Message } from "../../zulip/wire/messages.ts";
import type { Registration } from "../../zulip/wire/register.ts";
import type { Choice } from "./buttons.ts";
import type { Cards } from "./cards.ts";
import { type Arrival, type Intake, intake, replyTo } from "./intake.ts";
import type { Lanes } from "./lanes.ts";
import type { Poster } from "./poster.ts";
import type { Session } from "./session.ts";

/** The way in. */
export class Inbound {
  readonly #session: Session;
  readonly #poster: Poster;
  readonly #lanes: Lanes;
  readonly #cards: Cards;
  readonly #connected = Promise.withResolvers<void>();

  constructor(session: Session, poster: Poster, cards: Cards, lanes: Lanes) {
    this.#session = session;
    this.#poster = poster;
    this.#lanes = lanes;
    this.#cards = cards;
  }

  /** Resolves when the bot knows who it is and has a queue. */
  get connected(): Promise<void> {
    return this.#connected.promise;
  }

  /** Follows the queue until the gateway stops. Rejects when the account can no longer be used, or an event cannot be handled. */
  async run(cursor: EventCursor | null): Promise<void> {
    const { client, clock, random } = this.#session.deps;
    await this.#session.meetWhenPossible();
    if (cursor) {
      this.#session.queueId = cursor.queueId;
      this.#connected.resolve();
      this.#hearCards();
    }
    const end = await runEventLoop({
      client,
      clock,
      random,
      signal: this.#session.context.signal,
      registration: { idleQueueSeconds: 600 },
      ...(cursor ? { resume: cursor } : {}),
      onRegistered: (registration, why) => this.#registered(registration, why),
      onEvent: async (event, next) => await this.#event(event, next),
      gap: {
        mark: () => Promise.resolve(this.#session.mark),
        narrows: () => Promise.resolve(this.#narrows()),
        onMessages: async (page) => {
          for (const message of page) await this.#fromQueue(message, message.flags ?? []);
        },
      },
      onProblem: (problem) => this.#report(problem),
    });
    if (end.reason !== "aborted") throw new Error(`the Zulip account can no longer be used: ${end.reason}`);
  }

  /** A new queue. What happened to people and channels before it is read again. */
  async #registered(registration: Registration, why: RegisterReason): Promise<void> {
    if (why !== "first") await this.#session.meet();
    this.#session.queueId = registration.queueId;
    this.#session.maxMessageLength = registration.maxMessageLength;
    const newest = registration.maxMessageId;
    if (this.#session.mark !== null && newest !== null && newest < this.#session.mark) {
      await this.#rewind(newest);
    }
    if (this.#session.mark === null) {
      // Everything before the very first start is history that nobody asked us about.
      this.#session.mark = Math.max(0, registration.maxMessageId ?? 0);
      await this.#session.must({ ops: [markOp(this.#session.realm, this.#session.mark)] });
    }
    this.#session.saw(registration.maxMessageId ?? 0);
    this.#connected.resolve();
    this.#hearCards();
  }

  /** Zulip was restored from a backup and gives numbers out again, or what was read last was deleted; either way nothing newer was read. */
  async #rewind(newest: number): Promise<void> {
    const { realm, context, mark } = this.#session;
    context.log(
      "warn",
      "Zulip's newest message is older than what was read of it; reading goes on from there",
      {
        newest,
        mark,
      },
    );
    const messageId = Math.max(0, newest);
    const rewind: Op = { op: "zulip.rewind", realm, messageId };
    await this.#session.must({ ops: [rewind] });
    this.#session.mark = messageId;
    this.#session.newestId = messageId;
  }

  /** At every start and with every new queue, since what was done to a card in between is in no queue. Does not hold the queue up. */
  #hearCards(): void {
    this.#lanes.run("cards", () => this.#cards.catchUp()).catch((error) => {
      if (!this.#session.context.signal.aborted) reportError(error);
    });
  }

  async #event(event: ZulipEvent, cursor: EventCursor): Promise<void> {
    this.#session.roster.follow(event);
    if (event.type === "heartbeat") return;
    if (event.type === "message") {
      if (event.message.senderId === this.#session.bot?.id && event.localMessageId !== null) {
        await this.#poster.echoed(event.localMessageId, event.message.id);
        await this.#catchUp(event.localMessageId, event.message);
      }
      return await this.#fromQueue(event.message, event.flags, cursor);
    }
    const effects = await this.#effectsOf(event);
    await this.#session.must({
      ...effects,
      ops: [...(effects.ops ?? []), cursorOp(this.#session.realm, cursor)],
    });
  }

  /** A post that crossed a rename on its way stands under the old name, all alone: it is moved after its topic. */
  async #catchUp(localId: string, { id, place }: Message): Promise<void> {
    const conversation = (await this.#poster.named(localId))?.conversation ?? "";
    const target = this.#session.journal.targetOf(conversation);
    if (
      place.kind !== "channel" || !target || !("topic" in target) ||
      this.#session.journal.at(place) === conversation
    ) return;
    const elsewhere = target.channelId === place.channelId ? {} : { channelId: target.channelId };
    await this.#session.deps.client.moveMessage(id, {
      topic: target.topic,
      ...elsewhere,
      propagateMode: "change_one",
    })
      .catch((error) =>
        this.#session.context.log("warn", "a post could not follow its topic", {
          messageId: id,
          cause: String(error),
        })
      );
  }

  async #effectsOf(event: ZulipEvent): Promise<Effects> {
    if (event.type === "update_message") return this.#moved(event);
    if (event.type === "reaction" && event.op === "add") return await this.#cards.reacted(event);
    if (event.type === "delete_message") return await this.#cards.deleted(event);
    return {};
  }

  #moved(event: EventOf<"update_message">): Effects {
    const { ops, retired } = this.#session.journal.move(
      event,
      (channelId) => this.#session.roster.serves(channelId),
    );
    const stop = retired.map((conversation): Send => ({
      to: `conversation/${conversation}`,
      type: "conversation.stop",
      payload: {
        by: {
          kind: "zulip",
          id: String(event.userId ?? 0),
          name: this.#session.roster.nameOf(event.userId ?? 0),
        },
      },
    }));
    return { ops, send: stop };
  }

  /** A message of the queue or of the gap: committed together with the mark, so that neither is ever ahead of the other. */
  async #fromQueue(message: Message, flags: readonly string[], cursor?: EventCursor): Promise<void> {
    const effects = await this.take(message, {
      mark: this.#session.mark,
      flagged: flags.includes("mentioned"),
    });
    this.#session.saw(message.id);
    await this.#session.must({
      ...effects,
      ops: [
        ...(effects.ops ?? []),
        markOp(this.#session.realm, message.id),
        ...(cursor ? [cursorOp(this.#session.realm, cursor)] : []),
      ],
    });
    this.#session.mark = Math.max(this.#session.mark ?? 0, message.id);
  }

  /** Decides about one message and posts the gateway's own reply to it; the effects are for the caller to commit. */
  async take(message: Message, arrival: Arrival): Promise<Effects> {
    if (!this.#session.bot) throw new Error("a message came before the bot knew who it is");
    const taken = intake(message, arrival, {
      realm: this.#session.realm,
      bot: this.#session.bot,
      config: this.#session.deps.config,
      journal: this.#session.journal,
      roster: this.#session.roster,
      newId: () => this.#session.context.newId(),
    });
    if (taken.dropped) {
      this.#session.context.log("debug", "message passed over", {
        messageId: message.id,
        why: taken.dropped,
      });
    }
    if (taken.choice) return await this.#chosen(taken.choice, message);
    await this.#reply(taken);
    return taken.effects;
  }

  async #chosen(choice: Choice, message: Message): Promise<Effects> {
    const heard = await this.#cards.chosen(choice, message);
    if ("effects" in heard) return heard.effects;
    await this.#reply({ effects: {}, reply: replyTo(message, this.#session.journal, heard.reply) });
    return {};
  }

  /** Replies are the gateway's own words: posted under the message's key, so a message that is handled again gets no second one. */
  async #reply({ reply, check }: Intake): Promise<void> {
    if (reply) {
      const body = reply.status ? await this.#status(reply.conversation) : reply.body;
      // Not awaited: a lost answer of the server must not hold up the queue that will echo it.
      this.#lanes.run(reply.conversation, () => this.#poster.post({ ...reply, body })).catch((error) =>
        this.#session.context.log("warn", "a reply could not be posted", { cause: String(error) })
      );
    }
    if (check !== undefined) {
      await this.#session.deps.client.addReaction(check, { name: "check" }).catch((error) =>
        this.#session.context.log("info", "could not acknowledge a command", { cause: String(error) })
      );
    }
  }

  async #status(conversation: string): Promise<string> {
    // `store/reads/zulip.ts` declares this read's answer.
    const row = await this.#session.context.read("zulip.status", { conversation }) as StatusRow | null;
    const link = this.#session.deps.config.inboxUrl
      ? ` · [open](${this.#session.deps.config.inboxUrl}/conversations/${conversation})`
      : "";
    const turns = row?.turns ?? 0;
    const model = row?.model ? `, model ${codeSpan(row.model)}` : "";
    return `Conversation ${codeSpan(row?.title || conversation)}: **${row?.status ?? "new"}**, ${turns} turn${
      turns === 1 ? "" : "s"
    }${model}${link}`;
  }

  /** What to read after a lost queue: each served channel, and direct messages when they are on. */
  #narrows(): Narrow[] {
    const channels = this.#session.roster.served().map((
      id,
    ): Narrow => [{ operator: "channel", operand: id }]);
    return this.#session.deps.config.dms ? [...channels, [{ operator: "is", operand: "dm" }]] : channels;
  }

  #report(problem: LoopProblem): void {
    const { context } = this.#session;
    switch (problem.kind) {
      case "call_failed":
        return context.log("warn", "Zulip call failed", {
          phase: problem.phase,
          why: problem.failure.kind,
          waitMs: problem.waitMs,
        });
      case "unreadable_event":
        return context.log("warn", "an event could not be read", {
          name: problem.name,
          reason: problem.reason,
        });
      case "handler_failed":
        return context.log("error", "an event was not handled", {
          attempt: problem.attempt,
          cause: String(problem.error),
        });
    }
  }
}

function markOp(realm: string, messageId: number): Op {
  return { op: "zulip.mark", realm, messageId };
}

function cursorOp(realm: string, cursor: EventCursor): Op {
  return { op: "zulip.cursor", realm, ...cursor };
}
