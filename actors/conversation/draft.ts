/**
 * The decision in the making. One message's handler writes events, sends and operations into a draft; each event is folded into the state at
 * once, so that what is decided next sees it. The only mutable thing in this actor, and it lives for one message. It knows no turn logic.
 */
import type {
  ConversationEvent,
  ConversationEventType,
  EventPayloads,
} from "../../lib/conversation_event.ts";
import type { Decision, Env, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { MessageType, PayloadOf } from "../protocol.ts";
import { evolve } from "./evolve.ts";
import { type ConversationState, type Live, statusOf } from "./state.ts";

/** What a commit changes in the conversation's row. */
export type RowChange = Omit<Extract<Op, { op: "conversation.update" }>, "op">;

/** Collects one decision. */
export class Draft {
  #state: ConversationState;
  #row: RowChange = {};
  readonly #events: ConversationEvent[] = [];
  readonly #sends: Send[] = [];
  readonly #ops: Op[] = [];

  constructor(state: ConversationState, readonly env: Env) {
    this.#state = state;
  }

  /** The state as decided so far. */
  get state(): ConversationState {
    return this.#state;
  }

  /** Writes an event to the log. */
  emit<T extends ConversationEventType>(type: T, payload: EventPayloads[T]): void {
    // The pair (type, payload) is one of the union's members, which TypeScript cannot follow through a type parameter.
    const event = { seq: this.#state.seq + 1, type, payload, at: this.env.now } as ConversationEvent;
    this.#events.push(event);
    this.#state = evolve(this.#state, event);
  }

  /** Sends a message with the commit. */
  send<T extends MessageType>(
    to: string,
    type: T,
    payload: PayloadOf<T>,
    options: Pick<Send, "notBefore" | "replaces" | "dedupe"> = {},
  ): void {
    this.#sends.push({ to, type, payload, ...options });
  }

  /** Adds an operation to the commit. */
  op(op: Op): void {
    this.#ops.push(op);
  }

  /** Changes the conversation's row with the commit; a later value for the same field wins. */
  row(change: RowChange): void {
    this.#row = { ...this.#row, ...change };
  }

  /** Replaces what is being shown live. */
  show(live: Partial<Live>): void {
    this.#state = { ...this.#state, live: { ...this.#state.live, ...live } };
  }

  /** The finished decision. Brings the row's status up to date. */
  decision(): Decision<ConversationState> {
    const status = statusOf(this.#state);
    if (status !== this.#state.shownStatus) {
      this.row({ status });
      this.#state = { ...this.#state, shownStatus: status };
    }
    if (Object.keys(this.#row).length > 0) this.#ops.push({ op: "conversation.update", ...this.#row });
    return { state: this.#state, events: this.#events, send: this.#sends, ops: this.#ops };
  }
}
