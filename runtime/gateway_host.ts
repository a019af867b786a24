/**
 * Runs a gateway in its own process: `runGateway(gateway)` is the whole of a gateway's `main.ts`. Messages of one key are handled one at a time
 * and in order, different keys and the control lane at once. A rejected `handle` ends the process: the supervisor starts it again and hands
 * over what was in hand with `resumed`. The process ends with its link. It knows no rows. Proven by `gateway_test.ts`.
 */
import { newId } from "../lib/ids.ts";
import type { Committed, Effects, Envelope, Gateway, GatewayContext, Send } from "./actor.ts";
import { type FromGateway, GATEWAY_SLOT, type LeaseTime, type ToGateway } from "./link/link_messages.ts";
import { type ChildLink, connectToSupervisor } from "./link/child_link.ts";
import { activeTracer, inSpan } from "./tracing.ts";

const BEAT_MS = 1_000;
const STOP_BUDGET_MS = 2_000;
const EXIT_CRASH = 70;

type Handed = { message: Envelope; resumed: boolean; intent: unknown };
type Answer = Extract<ToGateway, { t: "answer" }>;

/** Runs the gateway for as long as the process lives. */
export async function runGateway(gateway: Gateway): Promise<void> {
  let harness: Harness | undefined;
  await connectToSupervisor((link) => {
    harness = new Harness(gateway, link);
    return (entry) => harness?.receive(entry.text);
  }, () => harness?.orphaned() ?? Promise.resolve());
}

class Harness {
  readonly #gateway: Gateway;
  readonly #link: ChildLink;
  readonly #stopping = new AbortController();
  readonly #hands = new Map<string, AbortController>();
  readonly #lines = new Map<string, Promise<void>>();
  readonly #tracer = activeTracer();
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #started: Promise<void> | undefined;
  #count = 0;
  #monotonicUntil = 0;
  #wallUntil = 0;

  constructor(gateway: Gateway, link: ChildLink) {
    this.#gateway = gateway;
    this.#link = link;
    captureConsole((level, text) => this.#say({ t: "log", level, text }));
    const crash = (error: unknown) => this.#crash(undefined, error);
    globalThis.addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      crash(event.reason);
    });
    globalThis.addEventListener("error", (event) => {
      event.preventDefault();
      crash(event.error ?? event.message);
    });
    // The supervisor decides when to end; a signal to the whole process group must not come first.
    Deno.addSignalListener("SIGINT", () => {});
    this.#say({ t: "ready" });
    setInterval(() => this.#say({ t: "beat", heapBytes: Deno.memoryUsage().heapUsed }), BEAT_MS);
  }

  receive(text: string): void {
    const message = JSON.parse(text) as ToGateway; // the MAC proves that our own supervisor wrote it
    switch (message.t) {
      case "start":
        this.#renew(message.lease);
        this.#started = this.#start(message.ref, message.config);
        return;
      case "deliver":
        // Envelopes are the supervisor's own, checked before they became rows.
        for (const handed of message.messages) this.#take(handed as Handed);
        return;
      case "ephemeral":
        return this.#ephemeral(message.message as Envelope); // as above
      case "answer":
        this.#answers.get(message.n)?.(message);
        this.#answers.delete(message.n);
        return;
      case "lease":
        return this.#renew(message.lease);
      case "withdraw":
        return this.#hands.get(message.id)?.abort(new DOMException("withdrawn", "AbortError"));
      case "stop":
        return void this.#stop(message.graceMs);
      default:
        return message satisfies never;
    }
  }

  /** Ends every effect at once: the link has ended, so nobody owns them any more. Resolves after the last clean-up or its time. */
  async orphaned(): Promise<void> {
    this.#stopping.abort(new DOMException("the supervisor is gone", "AbortError"));
    const budget = Promise.withResolvers<void>();
    const timer = setTimeout(budget.resolve, STOP_BUDGET_MS);
    await Promise.race([budget.promise, this.#cleanUp()]);
    await Promise.race([budget.promise, this.#link.flushed()]);
    clearTimeout(timer);
  }

  async #start(ref: string, config: unknown): Promise<void> {
    try {
      await this.#gateway.start(this.#context(ref, config));
      this.#say({ t: "up" });
    } catch (error) {
      this.#crash(undefined, error);
    }
  }

  #context(ref: string, config: unknown): GatewayContext {
    return {
      ref,
      config,
      now: () => Date.now(),
      newId,
      commit: (effects) => this.#committed((n) => ({ t: "commit", n, ...effects })),
      emit: (send: Send) => this.#say({ t: "emit", send }),
      read: async (name, input) => {
        const answer = await this.#ask((n) => ({ t: "read", n, name, input }));
        if (answer.ok) return answer.value;
        throw new Error(answer.error?.message ?? "the read failed");
      },
      mayAct: () => this.#mayAct(),
      signal: this.#stopping.signal,
      log: (level, text, facts) => this.#say({ t: "log", level, text, ...(facts ? { facts } : {}) }),
    };
  }

  #take(handed: Handed): void {
    const { message } = handed;
    this.#hands.set(message.id, new AbortController());
    if (message.lane === "control") return void this.#handle(handed);
    const key = this.#gateway.keyOf(message);
    const line = (this.#lines.get(key) ?? Promise.resolve()).then(() => this.#handle(handed));
    this.#lines.set(key, line);
    void line.then(() => {
      if (this.#lines.get(key) === line) this.#lines.delete(key);
    });
  }

  async #handle({ message, resumed, intent }: Handed): Promise<void> {
    await this.#started;
    const withdrawn = this.#hands.get(message.id);
    if (!withdrawn || this.#stopping.signal.aborted) return;
    const signal = AbortSignal.any([withdrawn.signal, this.#stopping.signal]);
    const started = (next: unknown, effects?: Effects) =>
      this.#committed((n) => ({ t: "started", n, id: message.id, intent: next, ...effects }));
    try {
      const act = async () => await this.#gateway.handle({ message, resumed, intent, signal, started });
      const effects = await (this.#tracer ? inSpan(this.#tracer, message, act) : act());
      this.#hands.delete(message.id);
      this.#say({ t: "done", id: message.id, ...effects });
    } catch (error) {
      // What a stop interrupts is handed over again to the next incarnation.
      if (!this.#stopping.signal.aborted) this.#crash(message.id, error);
    }
  }

  #ephemeral(message: Envelope): void {
    try {
      this.#gateway.ephemeral?.(message);
    } catch (error) {
      this.#crash(undefined, error);
    }
  }

  async #committed(request: (n: number) => FromGateway): Promise<Committed> {
    const answer = await this.#ask(request);
    return answer.ok
      ? { ok: true }
      : { ok: false, error: answer.error ?? { code: "unavailable", message: "no reason was given" } };
  }

  #ask(request: (n: number) => FromGateway): Promise<Answer> {
    const n = ++this.#count;
    return new Promise((resolve) => {
      this.#answers.set(n, resolve);
      this.#say(request(n));
    });
  }

  #renew(lease: LeaseTime): void {
    this.#monotonicUntil = performance.now() + lease.ms;
    this.#wallUntil = lease.until;
  }

  /** Both clocks must agree: a frame that waited in the socket while we were stopped renews nothing. */
  #mayAct(): boolean {
    return !this.#stopping.signal.aborted && performance.now() < this.#monotonicUntil &&
      Date.now() < this.#wallUntil;
  }

  async #stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => void this.#exit(0), graceMs + STOP_BUDGET_MS);
    this.#stopping.abort(new DOMException("the supervisor stops", "AbortError"));
    await this.#cleanUp();
    clearTimeout(timer);
    await this.#exit(0);
  }

  async #cleanUp(): Promise<void> {
    try {
      await this.#gateway.stop?.();
    } catch (error) {
      this.#say({
        t: "log",
        level: "error",
        text: "a gateway could not stop cleanly",
        facts: { error: String(error) },
      });
    }
  }

  #crash(id: string | undefined, error: unknown): void {
    const detail = error instanceof Error ? error.stack ?? String(error) : String(error);
    this.#say({ t: "crash", detail: detail.slice(0, 4_000), ...(id === undefined ? {} : { id }) });
    void this.#exit(EXIT_CRASH);
  }

  async #exit(code: number): Promise<void> {
    await this.#link.flushed();
    Deno.exit(code);
  }

  #say(message: FromGateway): void {
    this.#link.send(GATEWAY_SLOT, JSON.stringify(message));
  }
}

/** Libraries print: what they say goes to the log with its level. */
function captureConsole(log: (level: "debug" | "info" | "warn" | "error", text: string) => void): void {
  const text = (args: readonly unknown[]) =>
    args.map((arg) => typeof arg === "string" ? arg : Deno.inspect(arg)).join(" ").slice(0, 10_000);
  console.log = (...args) => log("info", text(args));
  console.info = (...args) => log("info", text(args));
  console.debug = (...args) => log("debug", text(args));
  console.warn = (...args) => log("warn", text(args));
  console.error = (...args) => log("error", text(args));
}
