/**
 * The supervisor of one gateway: starts its process, writes down each death, and starts it again after a crash, for ever, with backoff; hands
 * over again what was in hand, `resumed` when `started` had been committed. One on demand sleeps while nobody needs it. Promises at most one
 * process at a time, one `down` for each, that one with work never sleeps, and that a message which crashes it too often goes to the dead
 * letters. Proven by `runtime/gateway_test.ts` and `gateway_demand_test.ts`.
 */
import { type ActorRecord, downStatements, IDLE, startStatements } from "./actor_record.ts";
import { DueAlarm } from "./due_alarm.ts";
import { GatewayHands } from "./gateway_hands.ts";
import { GatewayIncarnation } from "./gateway_incarnation.ts";
import type { HostDeath } from "./judge_death.ts";
import type { Cell, Kernel } from "./kernel.ts";
import { afterCrash, type CrashHistory } from "./restart_policy.ts";
import { deadLetter } from "../mail/dead_letter.ts";
import type { EnvelopeParts, Mail } from "../mail/mail.ts";
import { type ActorView, mebibytes } from "../tree.ts";
import type { GatewayKind } from "../vocabulary.ts";
import { sql } from "../../store/db.ts";

/** One that introduces itself soon must not compete with what has to be there before the whole is ready. */
const SOON_MS = 1_000;

/** Supervises one gateway. */
export class GatewayCell implements Cell {
  readonly ref: string;
  readonly #spec: GatewayKind;
  readonly #record: ActorRecord;
  readonly #kernel: Kernel;
  readonly #hands: GatewayHands;
  readonly #alarm: DueAlarm;
  /** Also while it is over and what it had on its way to disk is not settled: the next one begins after that. */
  #life: GatewayIncarnation | undefined;
  #resting = false;
  #cancelRest: (() => void) | undefined;
  #history: CrashHistory = [];
  /** Its process must run even without mail: it always must, somebody has asked for it, or the last one did not end in sleep. */
  #wanted: boolean;
  #wasLive = false;
  #cancelSoon: (() => void) | undefined;
  /** Monotonic time of the last sign that somebody needs it. */
  #lastNeeded = -Infinity;
  #stopping = false;

  constructor(spec: GatewayKind, record: ActorRecord, kernel: Kernel) {
    this.ref = record.ref;
    this.#spec = spec;
    this.#record = record;
    this.#kernel = kernel;
    this.#hands = new GatewayHands(kernel.limits);
    this.#alarm = new DueAlarm(kernel.clock, () => this.pump());
    this.#wanted = !this.#isOnDemand;
  }

  get #isOnDemand(): boolean {
    return this.#spec.start === "demand";
  }

  get #box() {
    return this.#kernel.room.box(this.ref);
  }

  pump(): void {
    if (this.#stopping || this.#resting) return;
    const now = this.#kernel.clock.now();
    if (!this.#life && (this.#wanted || this.#box.hasDue(now))) this.#start();
    if (this.#life?.isLive) this.#deliver(this.#life, now);
    this.#alarm.set(this.#box.nextDue(now));
  }

  /** The runtime starts: so does its process, unless it is on demand and need not say what it offers. */
  begin(): void {
    if (this.#spec.introduce === "now") this.#wanted = true;
    if (this.#spec.introduce === "soon") {
      this.#cancelSoon = this.#kernel.clock.after(SOON_MS, () => this.#want());
    }
    this.pump();
  }

  /** Somebody is about to send it mail. */
  use(): void {
    this.#lastNeeded = this.#kernel.clock.monotonic();
    if (this.#isOnDemand) this.#want();
  }

  ephemeral(message: EnvelopeParts): void {
    if (this.#life?.isLive) this.#life.ephemeral(message);
  }

  withdraw(id: string): void {
    if (this.#box.get(id)) this.#life?.withdraw(id);
  }

  tick(now: number): void {
    this.#life?.renewLease();
    if (!this.#maySleep(now)) return this.pump();
    this.#wanted = false;
    void this.#life?.end(0, IDLE);
  }

  restart(): void {
    this.#history = [];
    this.#lastNeeded = this.#kernel.clock.monotonic();
    // Also of one that is about to sleep.
    this.#wanted = true;
    this.#cancelRest?.();
    if (this.#life) return this.#life.kill({ reason: "killed", detail: "a person restarted it" });
    this.#resting = false;
    this.pump();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#cancelRest?.();
    this.#cancelSoon?.();
    this.#alarm.cancel();
    await this.#life?.stop(graceMs);
  }

  view(now: number): ActorView {
    const { ref, kind, incarnation, restarts, lastDown } = this.#record;
    return {
      ref,
      kind,
      state: this.#life?.isLive ? "live" : this.#stopping || this.#sleeps ? "sleeping" : "starting",
      incarnation,
      host: ref,
      pid: this.#life?.pid,
      heapMb: mebibytes(this.#life?.heapBytes),
      mailbox: this.#box.depth(now),
      currentMessage: this.#box.current(now),
      restarts,
      lastDown,
      onDemand: this.#isAtEase ? true : undefined,
    };
  }

  /** Whether it has no process, and need not have one. */
  get #sleeps(): boolean {
    return !this.#life && !this.#wanted && !this.#resting;
  }

  /** Whether it is no fault that it does not live. */
  get #isAtEase(): boolean {
    if (!this.#isOnDemand || this.#life?.isLive || this.#resting) return false;
    const { lastDown } = this.#record;
    const crashed = lastDown !== undefined && !["lost", "shutdown"].includes(lastDown.reason);
    return this.#sleeps || !crashed && (this.#wasLive || this.#spec.introduce !== "now");
  }

  #want(): void {
    this.#wanted = true;
    this.pump();
  }

  #maySleep(now: number): boolean {
    return this.#isOnDemand && !this.#stopping && this.#life?.isIdle === true &&
      !this.#box.hasDue(this.#kernel.clock.now()) &&
      now - this.#lastNeeded >= this.#kernel.limits.restMs;
  }

  #deliver(life: GatewayIncarnation, now: number): void {
    const mails = this.#hands.take(this.#box, now);
    if (mails.length === 0) return;
    this.#lastNeeded = this.#kernel.clock.monotonic();
    life.deliver(mails);
  }

  #start(): void {
    const { clock, commits, log, changed } = this.#kernel;
    this.#record.incarnation++;
    try {
      this.#life = this.#newLife();
    } catch (error) {
      // Nothing has begun, so nothing is down.
      this.#record.incarnation--;
      log("error", "a gateway's process cannot be started", { ref: this.ref, error: String(error) });
      return this.#afterCrash();
    }
    void commits.write(this.ref, startStatements(this.#record, clock.now()));
    changed(this.ref);
  }

  /** Throws when its process cannot be started. */
  #newLife(): GatewayIncarnation {
    return new GatewayIncarnation({
      ref: this.ref,
      number: this.#record.incarnation,
      spec: this.#spec,
      box: this.#box,
      kernel: this.#kernel,
      onReady: () => {
        this.#wasLive = true;
        this.#kernel.changed(this.ref);
        this.pump();
      },
      onSettled: (mail) => {
        this.#hands.acquit(mail.id);
        this.pump();
      },
      onRefused: (mail, detail) => {
        this.#countFailure(mail, detail);
        this.pump();
      },
      onDown: (death, guilty) => this.#onDown(death, guilty),
    });
  }

  #onDown(death: HostDeath, guilty: string | undefined): void {
    const { clock, commits, log, meter } = this.#kernel;
    const { reason, detail } = death;
    const at = clock.now();
    const slept = reason === "shutdown" && detail === IDLE;
    this.#life = undefined;
    this.#wanted ||= !slept;
    this.#record.lastDown = { reason, detail, at };
    meter.down(this.#record.kind, reason);
    const suspect = reason !== "shutdown" && reason !== "killed";
    if (reason !== "shutdown") this.#record.restarts++;
    const hands = this.#box.inHand;
    const failed = suspect ? this.#hands.blame(hands, guilty) : undefined;
    for (const mail of hands) this.#box.giveBack(mail.id);
    void commits.write(this.ref, downStatements(this.#record, { reason, detail, at, suspect }));
    const { incarnation } = this.#record;
    const facts = { ref: this.ref, incarnation, reason, detail, suspect };
    log(suspect ? "error" : slept ? "debug" : "info", "an actor is down", facts);
    if (failed) this.#countFailure(failed, detail);
    this.#kernel.changed(this.ref);
    if (this.#stopping) return;
    if (slept) this.pump();
    else if (reason === "shutdown") this.#rest(0);
    else this.#afterCrash();
  }

  #countFailure(mail: Mail, detail: string): void {
    mail.failures++;
    if (mail.failures >= this.#kernel.limits.poisonAfter) {
      this.#hands.acquit(mail.id);
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
}
