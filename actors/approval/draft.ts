/** What a handler builds up while it decides: the next state, operations and messages, which commit together. Local to one decision. */
import type * as z from "zod";
import { canonicalJson } from "../../lib/digest.ts";
import { type EntryFacts, seal } from "../../lib/decision_chain.ts";
import type { Decision, Env, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { catalogue, MessageType } from "../protocol.ts";
import type { ApprovalState, OpenItem } from "./state.ts";

/** What may be written into a message of one type. */
export type PayloadIn<T extends MessageType> = z.input<(typeof catalogue)[T]["payload"]>;

/** What an entry of the decisions log says; the rest has defaults. */
export type Fact =
  & Pick<EntryFacts, "kind" | "actor" | "surface" | "decision">
  & Partial<Omit<EntryFacts, "body">>
  & { readonly body?: Readonly<Record<string, unknown>> };

/** The draft of one decision. */
export class Draft {
  readonly #send: Send[] = [];
  readonly #ops: Op[] = [];

  constructor(public state: ApprovalState, readonly env: Env) {}

  patch(change: Partial<ApprovalState>): void {
    this.state = { ...this.state, ...change };
  }

  op(op: Op): void {
    this.#ops.push(op);
  }

  tell<T extends MessageType>(
    to: string,
    type: T,
    payload: PayloadIn<T>,
    options: { notBefore?: number; dedupe?: string } = {},
  ): void {
    this.#send.push({ to, type, payload, ...options });
  }

  /** Appends to the decisions log. */
  record(fact: Fact): void {
    const entry = seal(this.state.head, {
      at: this.env.now,
      itemId: null,
      callId: null,
      conversation: null,
      device: null,
      digest: null,
      ...fact,
      body: canonicalJson(fact.body ?? {}),
    });
    this.op({ op: "decision.append", ...entry });
    this.patch({ head: { seq: entry.seq, hash: entry.hash } });
  }

  putItem(item: OpenItem): void {
    this.patch({ items: new Map(this.state.items).set(item.id, item) });
  }

  dropItem(id: string): void {
    const items = new Map(this.state.items);
    items.delete(id);
    this.patch({ items });
  }

  decision(): Decision<ApprovalState> {
    return { state: this.state, send: this.#send, ops: this.#ops };
  }
}
