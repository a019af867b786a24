/**
 * What runs in a gateway's process of the simulation: the promises of `runtime/gateway_host.ts` in virtual time. Messages of one key one at a
 * time and in order, different keys and the control lane at once; a rejected `handle` ends the process; an orphan ends every effect at once.
 */
import type { Committed, Delivery, Effects, Envelope, Gateway, GatewayContext } from "../../runtime/actor.ts";
import {
  type FromGateway,
  GATEWAY_SLOT,
  type LeaseTime,
  type ToGateway,
} from "../../runtime/link/link_messages.ts";
import type { Program, Shell } from "./process.ts";

type Handed = { message: Envelope; resumed: boolean; intent: unknown };
type Answer = Extract<ToGateway, { t: "answer" }>;

const BEAT_MS = 1_000;
const CRASH = 70;
const CLEAN_UP_MS = 30;

/** A gateway's process. */
export class GatewayProgram implements Program {
  readonly #shell: Shell;
  readonly #gateway: Gateway;
  readonly #newId: () => string;
  readonly #stopping = new AbortController();
  readonly #hands = new Map<string, AbortController>();
  readonly #lines = new Map<string, Promise<void>>();
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #started: Promise<void> | undefined;
  #count = 0;
  #until = 0;

  constructor(shell: Shell, options: { readonly gateway: Gateway; readonly newId: () => string }) {
    this.#shell = shell;
    this.#gateway = options.gateway;
    this.#newId = options.newId;
    this.#say({ t: "ready" });
    shell.after(BEAT_MS, () => this.#beat());
  }

  receive(_slot: number, text: string): void {
    const message = JSON.parse(text) as ToGateway; // the supervisor's own text
    switch (message.t) {
      case "start":
        this.#renew(message.lease);
        this.#started = this.#gateway.start(this.#context(message.ref, message.config)).then(() =>
          this.#say({ t: "up" })
        );
        return;
      case "deliver":
        for (const handed of message.messages) this.#take(handed as Handed); // as above
        return;
      case "ephemeral":
        return this.#gateway.ephemeral?.(message.message as Envelope); // as above
      case "answer":
        this.#answers.get(message.n)?.(message);
        this.#answers.delete(message.n);
        return;
      case "lease":
        return this.#renew(message.lease);
      case "withdraw":
        return this.#hands.get(message.id)?.abort();
      case "stop":
        return this.orphaned();
      default:
        return message satisfies never;
    }
  }

  orphaned(): void {
    this.#stopping.abort();
    this.#shell.after(CLEAN_UP_MS, () => this.#shell.exit(0));
  }

  #beat(): void {
    this.#say({ t: "beat" });
    this.#shell.after(BEAT_MS, () => this.#beat());
  }

  #context(ref: string, config: unknown): GatewayContext {
    return {
      ref,
      config,
      now: this.#shell.now,
      newId: this.#newId,
      commit: (effects) => this.#committed((n) => ({ t: "commit", n, ...effects })),
      emit: (send) => this.#say({ t: "emit", send }),
      read: async (name, input) => {
        const answer = await this.#ask((n) => ({ t: "read", n, name, input }));
        if (answer.ok) return answer.value;
        throw new Error(answer.error?.message);
      },
      mayAct: () => !this.#stopping.signal.aborted && this.#shell.now() < this.#until,
      signal: this.#stopping.signal,
      log: (level, text, facts = {}) => this.#say({ t: "log", level, text, facts }),
    };
  }

  #take(handed: Handed): void {
    const { message } = handed;
    this.#hands.set(message.id, new AbortController());
    if (message.lane === "control") return void this.#handle(handed);
    const key = this.#gateway.keyOf(message);
    const line = (this.#lines.get(key) ?? Promise.resolve()).then(() => this.#handle(handed));
    this.#lines.set(key, line);
  }

  async #handle({ message, resumed, intent }: Handed): Promise<void> {
    await this.#started;
    const hand = this.#hands.get(message.id);
    if (!hand || this.#stopping.signal.aborted) return;
    const signal = AbortSignal.any([hand.signal, this.#stopping.signal]);
    const delivery: Delivery = {
      message,
      resumed,
      intent,
      signal,
      started: (next, effects) =>
        this.#committed((n) => ({ t: "started", n, id: message.id, intent: next, ...effects })),
    };
    try {
      const effects: Effects | void = await this.#gateway.handle(delivery);
      this.#hands.delete(message.id);
      this.#say({ t: "done", id: message.id, ...effects });
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#say({ t: "crash", detail: String(error), id: message.id });
      this.#shell.exit(CRASH);
    }
  }

  async #committed(request: (n: number) => FromGateway): Promise<Committed> {
    const answer = await this.#ask(request);
    if (answer.ok) return { ok: true };
    return { ok: false, error: answer.error ?? { code: "unavailable", message: "no reason was given" } };
  }

  #ask(request: (n: number) => FromGateway): Promise<Answer> {
    const n = ++this.#count;
    return new Promise((resolve) => {
      this.#answers.set(n, resolve);
      this.#say(request(n));
    });
  }

  #renew({ ms, until }: LeaseTime): void {
    this.#until = Math.min(this.#shell.now() + ms, until);
  }

  #say(message: FromGateway): void {
    this.#shell.say(GATEWAY_SLOT, JSON.stringify(message));
  }
}
