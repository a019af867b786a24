/**
 * What people do to cards: reactions, buttons, deletions. All of it goes to approval, which alone knows who may decide what; the gateway only sees to
 * it that it is a card, that a button's reply is that card's, and that nothing done while the queue was lost stays unheard.
 * Proven by `cards_test.ts`.
 */
import { reactionMeanings } from "../../lib/reaction_meanings.ts";
import { backoffMs } from "../../lib/backoff.ts";
import { sleep } from "../../lib/clock.ts";
import type { Effects, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { CardRow, PostRow } from "../../store/reads/zulip.ts";
import type { Narrow } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { messagesAfter } from "../../zulip/history.ts";
import type { EventOf } from "../../zulip/wire/events.ts";
import type { Message, Place, Reaction } from "../../zulip/wire/messages.ts";
import type { ApprovalReact } from "../protocol/cards.ts";
import { type Choice, codeOf, isForeignForm } from "./buttons.ts";
import { dedupe } from "./intake.ts";
import type { Poster } from "./poster.ts";
import type { Session } from "./session.ts";

/** What a choice comes to: something to commit, or words for whoever sent it. */
export type Heard = { readonly effects: Effects } | { readonly reply: string };

const NO_SUCH_CARD =
  "No card in this topic has this number. Decide by a reaction to the card or in the inbox.";
const UNBELIEVED =
  "Somebody else's form stands in this topic, and its buttons could send this choice unseen. Decide by a reaction to the card or in the inbox.";
const UNREADABLE =
  "Zulip did not let me see whether this choice came from my own buttons. Decide by a reaction to the card or in the inbox.";

/** Watches the cards. */
export class Cards {
  readonly #session: Session;
  readonly #poster: Poster;

  constructor(session: Session, poster: Poster) {
    this.#session = session;
    this.#poster = poster;
  }

  /** A reaction. The whole realm's arrive; only those on cards matter. */
  async reacted({ messageId, userId, emojiName }: EventOf<"reaction">): Promise<Effects> {
    if (!this.#isPerson(userId) || !await this.#isCard(messageId)) return {};
    return { send: [this.#react({ messageId, zulipUserId: userId, emoji: emojiName })] };
  }

  /** Messages are gone; approval may want a card shown again. */
  async deleted({ messageIds }: EventOf<"delete_message">): Promise<Effects> {
    return await this.#gone(messageIds);
  }

  /** Somebody pressed a button, or sent what it sends. */
  async chosen(choice: Choice, message: Message): Promise<Heard> {
    const { messageId, version, decision } = choice;
    const row = await this.#poster.at(messageId);
    const conversation = this.#session.journal.at(message.place);
    if (
      !isStandingCard(row) || codeOf(row.localId) !== choice.code ||
      row.conversation !== conversation
    ) return { reply: NO_SUCH_CARD };
    try {
      if (await this.#hasForeignForm(message.place, messageId)) return { reply: UNBELIEVED };
    } catch (error) {
      if (!(error instanceof ZulipError)) throw error;
      return { reply: UNREADABLE };
    }
    const emoji = decision === "allow" ? "+1" : "-1";
    const button = { version, conversation };
    const send = this.#react({ messageId, zulipUserId: message.senderId, emoji, button });
    return { effects: { send: [{ ...send, dedupe: dedupe(this.#session.realm, message) }] } };
  }

  /** Hears what stands under one card; what cannot be read is heard at the next start, or with the next queue. */
  async look(messageId: number): Promise<void> {
    const { context, deps } = this.#session;
    try {
      const message = await deps.client.getMessage(messageId);
      const send = message ? this.#standing(message) : [];
      if (send.length > 0) await this.#session.must({ send });
    } catch (error) {
      if (!(error instanceof ZulipError)) throw error;
      context.log("info", "could not look at a card", { cause: error.message });
    }
  }

  /** Hears what was done to waiting cards while nothing was listening; tried until it works. */
  async catchUp(): Promise<void> {
    const { context, deps } = this.#session;
    for (let tries = 0;; tries++) {
      try {
        return await this.#catchUp();
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        const waitMs = error.failure.kind === "rate_limited"
          ? error.failure.retryAfterMs
          : backoffMs(tries, { baseMs: 500, capMs: 30_000, random: deps.random });
        context.log("warn", "cannot look at the waiting cards yet", { cause: error.message, waitMs });
        await sleep(deps.clock, waitMs, context.signal);
      }
    }
  }

  async #catchUp(): Promise<void> {
    const { context, deps, bot } = this.#session;
    // `store/reads/zulip.ts` declares this read's answer.
    const rows = await context.read("card.waiting", {}) as readonly CardRow[];
    const missing = new Set(rows.map(({ messageId }) => messageId));
    if (missing.size === 0 || !bot) return;
    const send: Send[] = [];
    const newest = Math.max(...missing);
    const narrows: Narrow[] = [[{ operator: "sender", operand: bot.id }]];
    const mark = Math.min(...missing) - 1;
    for await (const page of messagesAfter(deps.client, { mark, narrows, signal: context.signal })) {
      for (const message of page) {
        if (missing.delete(message.id)) send.push(...this.#standing(message));
      }
      if ((page.at(-1)?.id ?? newest) >= newest) break;
    }
    const deleted: number[] = [];
    for (const messageId of missing) {
      // History by sender holds what the bot received, and where it is not subscribed it may not receive its own.
      const message = await deps.client.getMessage(messageId);
      if (message) send.push(...this.#standing(message));
      else deleted.push(messageId);
    }
    const { ops, send: lost } = await this.#gone(deleted);
    if (send.length > 0 || lost.length > 0) await this.#session.must({ ops, send: [...send, ...lost] });
  }

  /** What stands under a card. Nobody knows in which order it came, so a refusal is heard first. */
  #standing({ id: messageId, reactions }: Message): Send[] {
    const people = reactions.filter(({ userId }) => userId !== null && this.#isPerson(userId));
    const isRefusal = ({ emojiName }: Reaction) =>
      Object.hasOwn(reactionMeanings, emojiName) && reactionMeanings[emojiName] === "reject_once";
    return [...people.filter(isRefusal), ...people.filter((reaction) => !isRefusal(reaction))].map((
      { userId, emojiName },
    ) => this.#react({ messageId, zulipUserId: userId ?? 0, emoji: emojiName, standing: true }));
  }

  async #gone(messageIds: readonly number[]): Promise<{ readonly ops: Op[]; readonly send: Send[] }> {
    const ops: Op[] = [];
    const send: Send[] = [];
    for (const messageId of messageIds) {
      const row = await this.#poster.at(messageId);
      if (!isStandingCard(row)) continue;
      ops.push({ op: "post.deleted", localId: row.localId });
      send.push({ to: "approval", type: "card.gone", payload: { messageId } });
    }
    return { ops, send };
  }

  #react(reaction: Omit<ApprovalReact, "name">): Send {
    const payload: ApprovalReact = { ...reaction, name: this.#session.roster.nameOf(reaction.zulipUserId) };
    return { to: "approval", type: "approval.react", payload };
  }

  #isPerson(userId: number): boolean {
    return userId !== this.#session.bot?.id && !this.#session.roster.isBot(userId);
  }

  async #isCard(messageId: number): Promise<boolean> {
    return isStandingCard(await this.#poster.at(messageId));
  }

  async #hasForeignForm(place: Place, cardId: number): Promise<boolean> {
    const { bot, context, deps } = this.#session;
    const pages = messagesAfter(deps.client, {
      mark: cardId,
      narrows: [narrowOf(place)],
      signal: context.signal,
    });
    for await (const page of pages) {
      if (page.some((message) => isForeignForm(message, bot?.id ?? -1))) return true;
    }
    return false;
  }
}

function isStandingCard(row: PostRow | null): row is PostRow {
  return row?.state === "posted" && row.key.startsWith("card/");
}

function narrowOf(place: Place): Narrow {
  return place.kind === "channel"
    ? [{ operator: "channel", operand: place.channelId }, { operator: "topic", operand: place.topic }]
    : [{ operator: "dm", operand: place.users.map(({ id }) => id) }];
}
