/**
 * The supervisor of one gateway: its process, the messages in its hands, and their two commits (started, done). Starts it again after a crash,
 * for ever, with backoff, and hands over again what was in hand: `resumed` when `started` had been committed. Promises at most one process at
 * a time, order of delivery within a key, and a name for the message that a crash is counted against. Proven by `runtime/gateway_test.ts`.
 */
import { DueAlarm } from "./due_alarm.ts";
import { type ActorRecord, downStatements, startStatements } from "./actor_record.ts";
import type { Built } from "../mail/built.ts";
import { type Author, type BuildOptions, type Effects, startedMark } from "../mail/commit_builder.ts";
import type { CommitOutcome } from "../mail/commits.ts";
import { deadLetter } from "../mail/dead_letter.ts";
import type { Watched } from "./heartbeats.ts";
import { type HostDeath, readEnd } from "./judge_death.ts";
import type { Cell, Kernel } from "./kernel.ts";
import {
  type FromGateway,
  GATEWAY_SLOT,
  type LeaseTime,
  readTrusted,
  type ToGateway,
} from "../link/link_messages.ts";
import { type EnvelopeParts, envelopeText, type Mail } from "../mail/mail.ts";
import type { ProcessLink } from "../link/process_link.ts";
import { afterCrash, type CrashHistory } from "./restart_policy.ts";
import { type ActorView, mebibytes } from "../tree.ts";
import type { GatewayKind } from "../vocabulary.ts";
import { sql } from "../../store/db.ts";

/** Supervises one gateway. */
export class GatewayCell implements Cell, Watched {
  readonly ref: string;
  lastBeat = 0;
  readonly #spec: GatewayKind;
  readonly #record: ActorRecord;
  readonly #kernel: Kernel;
  #link: ProcessLink | undefined;
  #ready = false;
  #heapBytes: number | undefined;
  #death: HostDeath | undefined;
  #guilty: string | undefined;
  #resting = false;
  #cancelRest: (() => void) | undefined;
  readonly #alarm: DueAlarm;
  #history: CrashHistory = [];
  /** After a crash that no message can be blamed for: what was in hand goes one by one. */
  readonly #suspects = new Set<string>();
  /** What this life has on its way to disk. The next one begins when the outcome is known: it decides what is in hand, `resumed`, and who is to blame. */
  readonly #underWay = new Set<Promise<void>>();
  #dying = false;
  #stopping = false;

  constructor(spec: GatewayKind, record: ActorRecord, kernel: Kernel) {
    this.ref = record.ref;
    this.#spec = spec;
    this.#record = record;
    this.#kernel = kernel;
    this.#alarm = new DueAlarm(kernel.clock, () => this.pump());
  }

  get #box() {
    return this.#kernel.room.box(this.ref);
  }

  limitMs(): number {
    return this.#ready ? this.#kernel.limits.gatewayHangMs : this.#kernel.limits.startMs;
  }

  hung(silentMs: number): void {
    this.#kill({ reason: "hang", detail: `${this.ref} did not beat for ${silentMs} ms` });
  }

  pump(): void {
    if (this.#stopping || this.#resting || this.#dying) return;
    if (!this.#link) return this.#start();
    this.#deliver();
    this.#alarm.set(this.#box.nextDue(this.#kernel.clock.now()));
  }

  ephemeral(message: EnvelopeParts): void {
    if (this.#ready) this.#sendText(`{"t":"ephemeral","message":${envelopeText(message, false)}}`);
  }

  withdraw(id: string): void {
    if (this.#box.get(id)) this.#send({ t: "withdraw", id });
  }

  tick(): void {
    if (this.#link) this.#send({ t: "lease", lease: this.#lease() });
    this.pump();
  }

  restart(): void {
    this.#history = [];
    this.#cancelRest?.();
    if (this.#link) return this.#kill({ reason: "killed", detail: "a person restarted it" });
    this.#resting = false;
    this.pump();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#cancelRest?.();
    this.#alarm.cancel();
    const link = this.#link;
    if (!link) return;
    this.#death ??= { reason: "shutdown", detail: "the supervisor stopped" };
    this.#send({ t: "stop", graceMs });
    const cancel = this.#kernel.clock.after(graceMs + 2_500, () => link.kill());
    await link.ended;
    cancel();
  }

  view(now: number): ActorView {
    const { ref, kind, incarnation, restarts, lastDown } = this.#record;
    const state = this.#ready ? "live" : this.#stopping ? "sleeping" : "starting";
    const mailbox = this.#box.depth(now);
    const currentMessage = this.#box.current(now);
    const heapMb = mebibytes(this.#heapBytes);
    const pid = this.#link?.pid;
    return {
      ref,
      kind,
      state,
      incarnation,
      host: ref,
      pid,
      heapMb,
      mailbox,
      currentMessage,
      restarts,
      lastDown,
    };
  }

  #start(): void {
    const kernel = this.#kernel;
    this.#record.incarnation++;
    this.#death = undefined;
    this.#guilty = undefined;
    const { incarnation } = this.#record;
    const isCurrent = () => this.#record.incarnation === incarnation && this.#link !== undefined;
    try {
      this.#link = kernel.openLink(kernel.gatewaySpec(this.#spec), {
        onEntry: ({ text }) => {
          if (isCurrent()) this.#onMessage(readTrusted<FromGateway>(text));
        },
        onNoise: (line) => kernel.log("warn", "a gateway wrote outside its link", { ref: this.ref, line }),
        onExit: (end) => void this.#onDown(this.#death ?? readEnd(end)),
      });
    } catch (error) {
      this.#record.incarnation--;
      kernel.log("error", "a gateway's process cannot be started", { ref: this.ref, error: String(error) });
      return this.#afterCrash();
    }
    kernel.heartbeats.add(this);
    void kernel.commits.write(this.ref, startStatements(this.#record, kernel.clock.now()));
    this.#send({ t: "start", ref: this.ref, config: this.#spec.config?.() ?? null, lease: this.#lease() });
    kernel.changed(this.ref);
  }

  #deliver(): void {
    if (!this.#ready) return;
    const { limits, clock } = this.#kernel;
    const perKey = new Map<string, number>();
    for (const { key } of this.#box.inHand) perKey.set(key, (perKey.get(key) ?? 0) + 1);
    let suspectInHand = this.#box.inHand.some((mail) => this.#suspects.has(mail.id));
    // What waits behind a suspect of its key must not overtake it.
    const blocked = new Set<string>();
    const mails = this.#box.take(clock.now(), limits.gatewayWindow - this.#box.inHand.length, (mail) => {
      const isNormal = mail.lane === "normal";
      if (isNormal && blocked.has(mail.key)) return false;
      if (this.#suspects.has(mail.id)) {
        if (suspectInHand) {
          if (isNormal) blocked.add(mail.key);
          return false;
        }
        suspectInHand = true;
      }
      if (!isNormal) return true;
      const count = perKey.get(mail.key) ?? 0;
      if (count >= limits.keyWindow) return false;
      perKey.set(mail.key, count + 1);
      return true;
    });
    if (mails.length > 0) this.#sendText(`{"t":"deliver","messages":[${mails.map(deliveryText).join(",")}]}`);
  }

  #onMessage(message: FromGateway): void {
    this.lastBeat = this.#kernel.clock.monotonic();
    switch (message.t) {
      case "ready":
        this.#ready = true;
        this.#kernel.changed(this.ref);
        return this.pump();
      case "beat":
        this.#heapBytes = message.heapBytes;
        return;
      case "started":
        return this.#track(this.#onStarted(message));
      case "done":
        return this.#track(this.#onDone(message));
      case "commit":
        return this.#track(
          this.#answerCommit(message.n, this.#commit(`${this.ref}/${message.n}`, undefined, message)),
        );
      case "emit":
        return this.#emit({ send: [message.send] });
      case "read":
        return void this.#onRead(message.n, message.name, message.input);
      case "crash":
        this.#guilty = message.id;
        this.#death ??= { reason: "exit", detail: message.detail };
        return;
      case "log":
        return this.#kernel.log(message.level, message.text, { ...message.facts, ref: this.ref });
      default:
        return message satisfies never;
    }
  }

  async #onStarted(message: Extract<FromGateway, { t: "started" }>): Promise<void> {
    const mail = this.#box.get(message.id);
    if (!mail) {
      const error = { code: "guard_failed", message: "the message is not in this gateway's hands" };
      return this.#send({ t: "answer", n: message.n, ok: false, error });
    }
    const { intent } = message;
    const { incarnation } = this.#record;
    const mark = startedMark(mail.id, { now: this.#kernel.clock.now(), incarnation, intent });
    const outcome = this.#commit(mail.id, mail, message, { marks: [mark] }).then(withdrawnAsGuard);
    await this.#answerCommit(message.n, outcome, () => {
      mail.started = true;
      mail.intent = JSON.stringify(intent ?? null);
    });
  }

  async #onDone(message: Extract<FromGateway, { t: "done" }>): Promise<void> {
    const mail = this.#box.get(message.id);
    if (!mail) return;
    const outcome = await this.#commit(mail.id, mail, message, { done: mail.id });
    if (outcome.ok || await this.#kernel.room.isClosed(mail.id)) {
      this.#box.remove(mail.id);
      this.#suspects.delete(mail.id);
    } else {
      this.#kernel.log("error", "a gateway's result was refused", {
        ref: this.ref,
        type: mail.type,
        ...outcome.error,
      });
      this.#box.giveBack(mail.id);
      this.#countFailure(mail, `its result was refused: ${outcome.error.code}: ${outcome.error.message}`);
    }
    this.pump();
  }

  async #onRead(n: number, name: string, input: unknown): Promise<void> {
    const asker = this.#link;
    try {
      const value = await this.#kernel.runRead(this.ref, this.#spec.kind, name, input);
      answer(asker, { t: "answer", n, ok: true, value });
    } catch (error) {
      answer(asker, { t: "answer", n, ok: false, error: { code: "bad_request", message: String(error) } });
    }
  }

  #emit(effects: Effects): void {
    const built = this.#kernel.builder.build(this.#author(undefined), effects);
    if (!built.ok) return;
    if (built.value.statements.length === 0) return this.#kernel.commits.emit(built.value);
    // A refusal is a row, and so is a durable message; neither belongs into `emit`.
    this.#kernel.commits.release(built.value);
    this.#kernel.log("error", "a gateway emitted a message that is durable or refused", { ref: this.ref });
  }

  #commit(
    id: string,
    mail: Mail | undefined,
    effects: Effects,
    options: BuildOptions = {},
  ): Promise<CommitOutcome> {
    const { ops, send } = effects;
    const built = this.#kernel.builder.build(this.#author(mail), { ops, send }, options);
    if (!built.ok) return Promise.resolve(built);
    return this.#run(id, built.value);
  }

  async #run(id: string, built: Built): Promise<CommitOutcome> {
    const outcome = await this.#kernel.commits.run(id, built);
    if (!outcome.ok) this.#kernel.commits.release(built);
    return outcome;
  }

  async #answerCommit(n: number, commit: Promise<CommitOutcome>, onOk = () => {}): Promise<void> {
    const asker = this.#link;
    const outcome = await commit;
    if (outcome.ok) {
      onOk();
      return answer(asker, { t: "answer", n, ok: true });
    }
    const { code, message } = outcome.error;
    answer(asker, { t: "answer", n, ok: false, error: { code, message } });
  }

  #author(mail: Mail | undefined): Author {
    return { ref: this.ref, kind: this.#spec.kind, cause: mail };
  }

  #track(handling: Promise<void>): void {
    this.#underWay.add(handling);
    void handling.finally(() => this.#underWay.delete(handling));
  }

  async #onDown(death: HostDeath): Promise<void> {
    const { clock, commits, heartbeats, log } = this.#kernel;
    const { reason, detail } = death;
    const at = clock.now();
    this.#link = undefined;
    this.#ready = false;
    this.#heapBytes = undefined;
    heartbeats.remove(this);
    this.#dying = true;
    while (!this.#stopping && this.#underWay.size > 0) await Promise.all(this.#underWay);
    this.#dying = false;
    this.#record.lastDown = { reason, detail, at };
    this.#kernel.meter.down(this.#record.kind, reason);
    const suspect = reason !== "shutdown" && reason !== "killed";
    if (reason !== "shutdown") this.#record.restarts++;
    const hands = this.#box.inHand;
    const failed = suspect ? this.#blame(hands) : undefined;
    for (const mail of hands) this.#box.giveBack(mail.id);
    void commits.write(this.ref, downStatements(this.#record, { reason, detail, at, suspect }));
    log(suspect ? "error" : "info", "an actor is down", {
      ref: this.ref,
      incarnation: this.#record.incarnation,
      reason,
      detail,
      suspect,
    });
    if (failed) this.#countFailure(failed, detail);
    this.#kernel.changed(this.ref);
    if (this.#stopping) return;
    if (reason === "shutdown") this.#rest(0);
    else this.#afterCrash();
  }

  /** The message that a crash is counted against; without one, all in hand are handed over one by one next time. */
  #blame(hands: readonly Mail[]): Mail | undefined {
    const named = hands.find((mail) => mail.id === this.#guilty);
    const only = hands.length === 1 ? hands[0] : undefined;
    const suspects = hands.filter((mail) => this.#suspects.has(mail.id));
    const found = named ?? only ?? (suspects.length === 1 ? suspects[0] : undefined);
    if (!found) { for (const mail of hands) this.#suspects.add(mail.id); }
    return found;
  }

  #countFailure(mail: Mail, detail: string): void {
    mail.failures++;
    if (mail.failures >= this.#kernel.limits.poisonAfter) {
      this.#suspects.delete(mail.id);
      return deadLetter(this.#kernel, mail, { code: "poison", message: detail });
    }
    void this.#kernel.commits.write(mail.id, [
      sql("UPDATE messages SET failures = ? WHERE id = ?", mail.failures, mail.id),
    ]);
  }

  #afterCrash(): void {
    const { clock, limits, random } = this.#kernel;
    const options = { now: clock.monotonic(), limits: limits.restart, random, singleton: true };
    const next = afterCrash(this.#history, options);
    this.#history = next.history;
    this.#rest(next.action === "restart" ? next.delayMs : limits.restart.capMs);
  }

  #rest(ms: number): void {
    this.#resting = true;
    this.#cancelRest = this.#kernel.clock.after(ms, () => {
      this.#resting = false;
      this.pump();
    });
  }

  #kill(death: HostDeath): void {
    this.#death ??= death;
    this.#link?.kill();
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
    this.#link?.send(GATEWAY_SLOT, text);
  }
}

/** Only the process that asked is answered: the next one numbers its questions from the start too. */
function answer(asker: ProcessLink | undefined, message: Extract<ToGateway, { t: "answer" }>): void {
  asker?.send(GATEWAY_SLOT, JSON.stringify(message));
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
