/**
 * One life of a gateway: its process, what is said on its link, and its commits on their way to disk. Promises that a message's `started` and
 * `done` are committed before they are answered, that only the process that asked is answered, and that `onDown` comes exactly once, after
 * the outcome of all that was under way is known: it decides what is in hand, `resumed`, and who is to blame. Proven by `gateway_test.ts`.
 */
import type { Watched } from "./heartbeats.ts";
import { type HostDeath, readEnd } from "./judge_death.ts";
import type { Kernel } from "./kernel.ts";
import {
  type FromGateway,
  GATEWAY_SLOT,
  type LeaseTime,
  readTrusted,
  type ToGateway,
} from "../link/link_messages.ts";
import type { ProcessLink } from "../link/process_link.ts";
import { type Author, type BuildOptions, type Effects, startedMark } from "../mail/commit_builder.ts";
import type { CommitOutcome } from "../mail/commits.ts";
import { type EnvelopeParts, envelopeText, type Mail } from "../mail/mail.ts";
import type { Mailbox } from "../mail/mailbox.ts";
import type { GatewayKind } from "../vocabulary.ts";

/** Whose life it is and who hears of it. */
export interface GatewayLifeOptions {
  readonly ref: string;
  readonly number: number;
  readonly spec: GatewayKind;
  readonly box: Mailbox;
  readonly kernel: Kernel;
  readonly onReady: () => void;
  /** A message is done and out of its hands. */
  readonly onSettled: (mail: Mail) => void;
  /** A message's result cannot be committed, and it is back in its mailbox. */
  readonly onRefused: (mail: Mail, detail: string) => void;
  /** `guilty`: the message that the process itself named. */
  readonly onDown: (death: HostDeath, guilty: string | undefined) => void;
}

/** How much longer than its grace a process may take to stop. */
const STOP_MARGIN_MS = 2_500;

/** A gateway's process at work. */
export class GatewayIncarnation implements Watched {
  lastBeat = 0;
  /** Heap that its isolate uses, bytes, as it said last. */
  heapBytes: number | undefined;
  readonly #options: GatewayLifeOptions;
  readonly #kernel: Kernel;
  readonly #link: ProcessLink;
  readonly #underWay = new Set<Promise<void>>();
  #ready = false;
  #up = false;
  #over = false;
  /** It was told to end. */
  #ending = false;
  /** Nobody waits for what is under way any more. */
  #abandoned = false;
  #death: HostDeath | undefined;
  #guilty: string | undefined;

  /** Throws when its process cannot be started. */
  constructor(options: GatewayLifeOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
    const { ref, kernel, spec } = options;
    this.#link = kernel.openLink(kernel.gatewaySpec(spec), {
      onEntry: ({ text }) => this.#onMessage(readTrusted<FromGateway>(text)),
      onNoise: (line) => kernel.log("warn", "a gateway wrote outside its link", { ref, line }),
      onExit: (end) => void this.#onExit(this.#death ?? readEnd(end)),
    });
    kernel.heartbeats.add(this);
    this.#send({ t: "start", ref, config: spec.config?.() ?? null, lease: this.#lease() });
  }

  get pid(): number | undefined {
    return this.#over ? undefined : this.#link.pid;
  }

  /** It has said that it is ready, and its process runs and may be given work. */
  get isLive(): boolean {
    return this.#ready && !this.#over && !this.#ending;
  }

  /** Its `start` is over, and nothing is in its hands or on its way to disk. */
  get isIdle(): boolean {
    return this.isLive && this.#up && this.#underWay.size === 0 && this.#options.box.inHand.length === 0;
  }

  limitMs(): number {
    return this.#ready ? this.#kernel.limits.gatewayHangMs : this.#kernel.limits.startMs;
  }

  hung(silentMs: number): void {
    this.kill({ reason: "hang", detail: `${this.#options.ref} did not beat for ${silentMs} ms` });
  }

  deliver(mails: readonly Mail[]): void {
    if (mails.length > 0) this.#sendText(`{"t":"deliver","messages":[${mails.map(deliveryText).join(",")}]}`);
  }

  ephemeral(message: EnvelopeParts): void {
    this.#sendText(`{"t":"ephemeral","message":${envelopeText(message, false)}}`);
  }

  withdraw(id: string): void {
    this.#send({ t: "withdraw", id });
  }

  renewLease(): void {
    this.#send({ t: "lease", lease: this.#lease() });
  }

  kill(death: HostDeath): void {
    this.#death ??= death;
    this.#link.kill();
  }

  /** Ends it because the supervisor stops. Resolves when its process is gone; what it has on its way to disk is not waited for. */
  stop(graceMs: number): Promise<void> {
    this.#abandoned = true;
    return this.end(graceMs, "the supervisor stopped");
  }

  /** Ends it in peace; kills it when it takes longer than it may. Resolves when its process is gone. */
  async end(graceMs: number, detail: string): Promise<void> {
    this.#ending = true;
    this.#death ??= { reason: "shutdown", detail };
    this.#send({ t: "stop", graceMs });
    const cancel = this.#kernel.clock.after(graceMs + STOP_MARGIN_MS, () => this.#link.kill());
    await this.#link.ended;
    cancel();
  }

  #onMessage(message: FromGateway): void {
    this.lastBeat = this.#kernel.clock.monotonic();
    switch (message.t) {
      case "ready":
        this.#ready = true;
        return this.#options.onReady();
      case "up":
        this.#up = true;
        return;
      case "beat":
        this.heapBytes = message.heapBytes;
        return;
      case "started":
        return this.#track(this.#onStarted(message));
      case "done":
        return this.#track(this.#onDone(message));
      case "commit":
        return this.#track(this.#answerCommit(message.n, this.#commit(undefined, message)));
      case "emit":
        return this.#emit({ send: [message.send] });
      case "read":
        return void this.#onRead(message.n, message.name, message.input);
      case "crash":
        this.#guilty = message.id;
        this.#death ??= { reason: "exit", detail: message.detail };
        return;
      case "log":
        return this.#kernel.log(message.level, message.text, { ...message.facts, ref: this.#options.ref });
      default:
        return message satisfies never;
    }
  }

  async #onStarted(message: Extract<FromGateway, { t: "started" }>): Promise<void> {
    const { box, number } = this.#options;
    const mail = box.get(message.id);
    if (!mail) {
      const error = { code: "guard_failed", message: "the message is not in this gateway's hands" };
      return this.#send({ t: "answer", n: message.n, ok: false, error });
    }
    const { intent } = message;
    const mark = startedMark(mail.id, { now: this.#kernel.clock.now(), incarnation: number, intent });
    const outcome = this.#commit(mail, message, { marks: [mark] }).then(withdrawnAsGuard);
    await this.#answerCommit(message.n, outcome, () => {
      mail.started = true;
      mail.intent = JSON.stringify(intent ?? null);
    });
  }

  async #onDone(message: Extract<FromGateway, { t: "done" }>): Promise<void> {
    const { ref, box, onSettled, onRefused } = this.#options;
    const mail = box.get(message.id);
    if (!mail) return;
    const outcome = await this.#commit(mail, message, { done: mail.id });
    if (outcome.ok || await this.#kernel.room.isClosed(mail.id)) {
      box.remove(mail.id);
      return onSettled(mail);
    }
    const { code, message: why } = outcome.error;
    this.#kernel.log("error", "a gateway's result was refused", { ref, type: mail.type, ...outcome.error });
    box.giveBack(mail.id);
    onRefused(mail, `its result was refused: ${code}: ${why}`);
  }

  async #onRead(n: number, name: string, input: unknown): Promise<void> {
    try {
      const value = await this.#kernel.runRead(this.#options.ref, this.#options.spec.kind, name, input);
      this.#send({ t: "answer", n, ok: true, value });
    } catch (error) {
      this.#send({ t: "answer", n, ok: false, error: { code: "bad_request", message: String(error) } });
    }
  }

  #emit(effects: Effects): void {
    const { builder, commits, log } = this.#kernel;
    const built = builder.build(this.#author(undefined), effects);
    if (!built.ok) return;
    if (built.value.statements.length === 0) return commits.emit(built.value);
    // A refusal is a row, and so is a durable message; neither belongs into `emit`.
    commits.release(built.value);
    log("error", "a gateway emitted a message that is durable or refused", { ref: this.#options.ref });
  }

  async #commit(
    mail: Mail | undefined,
    { ops, send }: Effects,
    options: BuildOptions = {},
  ): Promise<CommitOutcome> {
    const { builder, commits } = this.#kernel;
    const built = builder.build(this.#author(mail), { ops, send }, options);
    if (!built.ok) return built;
    const outcome = await commits.run(mail?.id ?? this.#options.ref, built.value);
    if (!outcome.ok) commits.release(built.value);
    return outcome;
  }

  async #answerCommit(n: number, commit: Promise<CommitOutcome>, onOk = () => {}): Promise<void> {
    const outcome = await commit;
    if (outcome.ok) {
      onOk();
      return this.#send({ t: "answer", n, ok: true });
    }
    const { code, message } = outcome.error;
    this.#send({ t: "answer", n, ok: false, error: { code, message } });
  }

  #author(mail: Mail | undefined): Author {
    return { ref: this.#options.ref, kind: this.#options.spec.kind, cause: mail };
  }

  #track(handling: Promise<void>): void {
    this.#underWay.add(handling);
    void handling.finally(() => this.#underWay.delete(handling));
  }

  async #onExit(death: HostDeath): Promise<void> {
    this.#over = true;
    this.#kernel.heartbeats.remove(this);
    while (!this.#abandoned && this.#underWay.size > 0) await Promise.all(this.#underWay);
    this.#options.onDown(death, this.#guilty);
  }

  #lease(): LeaseTime {
    const { clock, limits } = this.#kernel;
    const ms = Math.max(0, Math.min(this.#kernel.leaseMs() - limits.leaseMarginMs, 2 ** 31));
    return { ms, until: clock.now() + ms };
  }

  #send(message: ToGateway): void {
    this.#sendText(JSON.stringify(message));
  }

  #sendText(text: string): void {
    if (!this.#over) this.#link.send(GATEWAY_SLOT, text);
  }
}

/** A mark that fails on `messages.state` means that the message was withdrawn: to the gateway, a condition that no longer holds. */
function withdrawnAsGuard(outcome: CommitOutcome): CommitOutcome {
  if (outcome.ok || outcome.error.code !== "conflict") return outcome;
  return { ok: false, error: { ...outcome.error, code: "guard_failed" } };
}

function deliveryText(mail: Mail): string {
  const { started, intent } = mail;
  return `{"message":${envelopeText(mail, true)},"resumed":${started},"intent":${intent ?? "null"}}`;
}
