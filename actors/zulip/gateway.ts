/**
 * The Zulip gateway: one event queue in, answers, notes and cards out. It owns the topic journal and the posts. What arrives is committed
 * before the queue is told to forget it; what is posted was committed as an intent before. Messages of one conversation are handled in
 * order; a streamed answer's edits share their lane. Proven by `gateway_test.ts` against the fake server, and by the end-to-end tests.
 */
import type { Delivery, Effects, Envelope, Gateway, GatewayContext } from "../../runtime/actor.ts";
import { Message } from "../../zulip/wire/messages.ts";
import type { Message as Incoming } from "../protocol.ts";
import type { TopicNote } from "../protocol/zulip.ts";
import { Answers } from "./answer.ts";
import { buttonsWidget } from "./buttons.ts";
import { Cards } from "./cards.ts";
import { EditBudget } from "./edit_budget.ts";
import { Inbound } from "./inbound.ts";
import { Lanes } from "./lanes.ts";
import { Poster } from "./poster.ts";
import { Session, type ZulipGatewayDeps } from "./session.ts";
import { Showing } from "./showing.ts";

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
      return noteOf(incoming.from, incoming.payload).conversation;
    case "card.show":
      return incoming.payload.conversation;
    case "person.note":
      return personKey(incoming.payload.zulipUserId);
    case "zulip.received":
      return "intake";
    default:
      return conversationOf(message.from);
  }
}

/** A conversation speaks in its own topic alone, and under keys of its own. */
function noteOf(from: string, note: TopicNote): TopicNote {
  const conversation = conversationOf(from);
  return conversation === from ? note : { ...note, conversation, key: `${conversation}/${note.key}` };
}

/** Notes to one person are a lane of their own, and posts of no conversation. */
function personKey(zulipUserId: number): string {
  return `person/${zulipUserId}`;
}

function conversationOf(ref: string): string {
  return ref.startsWith("conversation/") ? ref.slice("conversation/".length) : ref;
}

class ZulipActor {
  /** Resolves when the event loop has ended. */
  stopped: Promise<void> = Promise.resolve();
  readonly #lanes = new Lanes();
  readonly #session: Session;
  readonly #inbound: Inbound;
  readonly #answers: Answers;
  readonly #showing: Showing;

  constructor(readonly deps: ZulipGatewayDeps, readonly context: GatewayContext) {
    this.#session = new Session(deps, context);
    const poster = posterOf(this.#session);
    const cards = new Cards(this.#session, poster);
    this.#inbound = new Inbound(this.#session, poster, cards, this.#lanes);
    this.#answers = answersOf(this.#session, poster);
    this.#showing = new Showing(this.#session, poster, cards);
  }

  async start(): Promise<void> {
    const cursor = await this.#session.load();
    this.stopped = this.#inbound.run(cursor).catch((error) => {
      if (this.context.signal.aborted) return;
      // The runtime's part: an error that nobody takes ends the process, and the supervisor starts it again.
      this.context.log("error", "the Zulip connection ended", { cause: String(error) });
      reportError(error);
    });
  }

  async handle(delivery: Delivery): Promise<Effects> {
    await this.#inbound.connected;
    const incoming = delivery.message as Incoming; // parsed by the supervisor against the catalogue
    switch (incoming.type) {
      case "zulip.received": {
        const message = Message.safeParse(incoming.payload.message);
        if (!message.success) return {};
        this.#session.saw(message.data.id);
        return await this.#inbound.take(message.data, { mark: null, flagged: true });
      }
      case "topic.answer": {
        const conversation = conversationOf(incoming.from);
        await this.#lanes.run(conversation, () => this.#answers.finish(conversation, incoming.payload));
        return {};
      }
      case "topic.note": {
        const note = noteOf(incoming.from, incoming.payload);
        return await this.#lanes.run(note.conversation, () => this.#showing.note(note));
      }
      case "person.note": {
        const note = incoming.payload;
        const lane = personKey(note.zulipUserId);
        return await this.#lanes.run(lane, () => this.#showing.toPerson(lane, note));
      }
      case "card.show":
        return await this.#lanes.run(
          incoming.payload.conversation,
          () => this.#showing.card(incoming.payload),
        );
      default:
        return {};
    }
  }

  ephemeral(message: Envelope): void {
    const incoming = message as Incoming; // parsed by the supervisor against the catalogue
    if (incoming.type !== "topic.progress" || !this.#session.bot) return;
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
}

function posterOf(session: Session): Poster {
  const { deps, context } = session;
  return new Poster({
    client: deps.client,
    clock: deps.clock,
    settleAfterMs: deps.config.settleAfterMs,
    signal: context.signal,
    newId: () => context.newId(),
    botId: () => session.bot?.id ?? -1,
    queueId: () => session.queueId,
    newestId: () => session.newestId,
    maxMessageLength: () => session.maxMessageLength,
    widgetOf: ({ key, body }) =>
      key.startsWith("buttons/") && session.bot ? buttonsWidget(body, session.bot) : undefined,
    mayAct: () => context.mayAct(),
    commit: (effects) => context.commit(effects),
    read: (name, input) => context.read(name, input),
    log: (level, text, facts) => context.log(level, text, facts),
  });
}

function answersOf(session: Session, poster: Poster): Answers {
  const { deps, context } = session;
  return new Answers({
    client: deps.client,
    poster,
    journal: () => session.journal,
    clock: deps.clock,
    editIntervalMs: deps.config.editIntervalMs,
    budget: new EditBudget(deps.clock, deps.config.editsPerMinute),
    signal: context.signal,
    commit: (effects) => context.commit(effects),
    log: (level, text, facts) => context.log(level, text, facts),
  });
}
