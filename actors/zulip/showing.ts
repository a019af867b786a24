/**
 * Notes and cards in a topic. A card is posted once and then brought up to date by edits; approval is told where it stands, so that it can tell
 * a reaction to it from any other. Proven by `gateway_test.ts`.
 */
import type { Effects, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import { ZulipError } from "../../zulip/errors.ts";
import type { CardShow, PersonNote, TopicNote } from "../protocol/zulip.ts";
import { buttonsBody, buttonsKey, codeOf } from "./buttons.ts";
import { renderCard } from "./card.ts";
import type { Cards } from "./cards.ts";
import type { Poster } from "./poster.ts";
import type { Session } from "./session.ts";

/** Shows what is no answer; calls for one conversation must not overlap. */
export class Showing {
  readonly #session: Session;
  readonly #poster: Poster;
  readonly #cards: Cards;

  constructor(session: Session, poster: Poster, cards: Cards) {
    this.#session = session;
    this.#poster = poster;
    this.#cards = cards;
  }

  /** Posts a note once. */
  async note(note: TopicNote): Promise<Effects> {
    const target = this.#session.journal.targetOf(note.conversation);
    if (!target) return {};
    const posting = await this.#poster.post({
      key: `note/${note.key}`,
      conversation: note.conversation,
      target,
      body: note.text,
    });
    if (posting.ok) this.#session.journal.own(note.conversation, posting.messageId);
    return {};
  }

  /** Writes to one person alone, once, with the way to the item. */
  async toPerson(lane: string, { zulipUserId, itemId, key, text }: PersonNote): Promise<Effects> {
    const { inboxUrl } = this.#session.deps.config;
    await this.#poster.post({
      key: `person/${key}`,
      conversation: lane,
      target: { userIds: [zulipUserId] },
      body: inboxUrl === undefined ? text : `${text} [Open it](${inboxUrl}/inbox/${itemId})`,
    });
    return {};
  }

  /** Posts a card, or brings it up to date. Approval is told before anybody is invited to react, since it passes over what it does not know. */
  async card(item: CardShow): Promise<Effects> {
    const target = this.#session.journal.targetOf(item.conversation);
    if (!target) return {};
    const card = renderCard(item, this.#session.deps.config);
    const key = await this.#keyOf(item);
    if (key === undefined) return {};
    await this.#withdraw(item);
    const posting = await this.#poster.post({
      key,
      conversation: item.conversation,
      target,
      body: card.body,
    });
    if (!posting.ok) return {};
    this.#session.journal.own(item.conversation, posting.messageId);
    if (!posting.fresh) {
      await this.#session.deps.client.editMessage(posting.messageId, card.body).catch((error) =>
        this.#session.context.log("info", "a card could not be brought up to date", { cause: String(error) })
      );
    }
    if (item.state !== "waiting") return {};
    const { messageId } = posting;
    const { itemId, version } = item;
    const shown: Send = {
      to: "approval",
      type: "card.shown",
      payload: { itemId, version, messageId, whole: card.whole },
    };
    await this.#session.must({ send: [shown] });
    if (card.reactable) await this.#offer(item, messageId);
    // A post whose answer was lost may have stood there for a while.
    await this.#cards.look(messageId);
    return {};
  }

  /** Under which key the card stands, or is to be posted. One that somebody deleted is posted again, once; a settled one is not posted at all. */
  async #keyOf({ itemId, state }: CardShow): Promise<string | undefined> {
    for (const key of [`card/${itemId}`, `card/${itemId}/again`]) {
      const row = await this.#poster.find(key);
      if (!row) return state === "waiting" ? key : undefined;
      if (row.state !== "deleted") return key;
    }
    return undefined;
  }

  /** Puts the two answers under a card, so that deciding is one tap. */
  async #offer(item: CardShow, messageId: number): Promise<void> {
    await this.#offerReactions(messageId);
    if (this.#session.deps.config.buttons) await this.#offerButtons(item, messageId);
  }

  /** A form of its own, since a message with a form cannot be edited. It carries no news: a phone that cannot show it shows what to send. */
  async #offerButtons({ itemId, version, conversation }: CardShow, messageId: number): Promise<void> {
    const row = await this.#poster.at(messageId);
    const target = this.#session.journal.targetOf(conversation);
    if (!row || !target) return;
    const body = buttonsBody({ messageId, version, code: codeOf(row.localId) });
    const posting = await this.#poster.post({ key: buttonsKey(itemId, version), conversation, target, body });
    if (posting.ok) this.#session.journal.own(conversation, posting.messageId);
  }

  /** Takes away the buttons of earlier versions, and all of them when there is nothing to decide any more. Zulip may refuse; they decide nothing then. */
  async #withdraw(item: CardShow): Promise<void> {
    const current = buttonsKey(item.itemId, item.version);
    for (const row of await this.#poster.buttonsOf(item.itemId)) {
      if (row.messageId === null || item.state === "waiting" && row.key === current) continue;
      try {
        await this.#session.deps.client.deleteMessage(row.messageId);
        const gone: Op = { op: "post.deleted", localId: row.localId };
        await this.#session.must({ ops: [gone] });
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        this.#session.context.log("info", "buttons could not be taken away", { cause: error.message });
      }
    }
  }

  async #offerReactions(messageId: number): Promise<void> {
    for (const name of ["+1", "-1"]) {
      await this.#session.deps.client.addReaction(messageId, { name }).catch((error) =>
        this.#session.context.log("debug", "could not offer a reaction", { cause: String(error) })
      );
    }
  }
}
