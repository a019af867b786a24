/**
 * Notes and cards in a topic. A card is posted once and then brought up to date by edits; approval is told where it stands, so that it can tell
 * a reaction to it from any other. Proven by `gateway_test.ts`.
 */
import type { Effects } from "../../runtime/actor.ts";
import type { CardShow, TopicNote } from "../protocol/zulip.ts";
import { renderCard } from "./card.ts";
import type { Poster } from "./poster.ts";
import type { Session } from "./session.ts";

/** Shows what is no answer; calls for one conversation must not overlap. */
export class Showing {
  readonly #session: Session;
  readonly #poster: Poster;

  constructor(session: Session, poster: Poster) {
    this.#session = session;
    this.#poster = poster;
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

  /** Posts a card, or brings it up to date; gives what to tell approval. */
  async card(item: CardShow): Promise<Effects> {
    const target = this.#session.journal.targetOf(item.conversation);
    if (!target) return {};
    const card = renderCard(item, this.#session.deps.config);
    const key = `card/${item.itemId}`;
    if (item.state !== "waiting" && !await this.#poster.find(key)) return {};
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
      await this.#session.deps.client.addReaction(messageId, { name }).catch((error) =>
        this.#session.context.log("debug", "could not offer a reaction", { cause: String(error) })
      );
    }
  }
}
