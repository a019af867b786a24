/**
 * The supervisor of one pure actor: wakes it for its mail, lets it sleep when idle, writes down each death, and starts it again by policy. A
 * message that fails too often goes to the dead letters and its sender is told. Promises that at most one incarnation lives, that the next
 * one begins from rows which hold everything the last one committed, and that only the suspect is punished. Proven by `runtime/runtime_test.ts`.
 */
import { DueAlarm } from "./due_alarm.ts";
import { downStatements, IDLE, parkStatements, startStatements, wasAwake } from "./actor_record.ts";
import type { ActorRecord } from "./actor_record.ts";
import { idOf } from "../mail/commit_builder.ts";
import { deadLetter } from "../mail/dead_letter.ts";
import type { Cell, Kernel } from "./kernel.ts";
import type { EnvelopeParts, Mail } from "../mail/mail.ts";
import type { SeatEnd } from "./pure_host.ts";
import { PureIncarnation } from "./pure_incarnation.ts";
import { afterCrash, type CrashHistory } from "./restart_policy.ts";
import { type ActorView, mebibytes } from "../tree.ts";
import type { PureKind } from "../vocabulary.ts";

/** How long to wait when an actor's state could not be loaded or its process not be started, in milliseconds. */
const RETRY_MS = 1_000;
/** Supervises one pure actor. */
export class PureCell implements Cell {
  readonly ref: string;
  readonly #spec: PureKind;
  readonly #record: ActorRecord;
  readonly #kernel: Kernel;
  #life: PureIncarnation | undefined;
  /** Set from a death to the moment when the actor may start again. */
  #resting = false;
  #cancelRest: (() => void) | undefined;
  readonly #alarm: DueAlarm;
  #history: CrashHistory = [];
  /** Crashes of its own in a row since the last commit. */
  #crashes: number;
  /** After a crash, one message at a time until one is done, so that the next crash has a name. */
  #careful: boolean;
  #quarantine: string | undefined;
  /** It must wake even without mail, because an incarnation did not end in sleep. */
  #mustWake: boolean;
  #stopping = false;
  #onOver: (() => void) | undefined;

  constructor(spec: PureKind, record: ActorRecord, kernel: Kernel) {
    this.ref = record.ref;
    this.#spec = spec;
    this.#record = record;
    this.#kernel = kernel;
    this.#alarm = new DueAlarm(kernel.clock, () => this.pump());
    this.#mustWake = this.#isCore || wasAwake(record);
    this.#crashes = record.crashes;
    this.#careful = record.crashes > 0;
  }

  get #isCore(): boolean {
    return this.#spec.placement === "core";
  }

  get isLive(): boolean {
    return this.#life !== undefined;
  }

  /** Whether its Worker is not ready, or has not got its state yet. */
  get isStarting(): boolean {
    return this.#life !== undefined && !this.#life.isLive;
  }

  /** Monotonic time since which nothing happens, or undefined while something does. */
  get idleSince(): number | undefined {
    const life = this.#life;
    if (!life || this.#isCore || !life.isIdle() || this.#box.hasDue(this.#kernel.clock.now())) {
      return undefined;
    }
    return life.lastActive;
  }

  get #box() {
    return this.#kernel.room.box(this.ref);
  }

  get #window(): number {
    return this.#careful ? 1 : this.#kernel.limits.window;
  }

  pump(): void {
    if (this.#stopping || this.#resting || this.#record.parkedReason !== undefined) return;
    this.#alarm.set(this.#box.nextDue(this.#kernel.clock.now()));
    if (this.#life) return this.#life.fill(this.#window);
    const due = this.#box.hasDue(this.#kernel.clock.now());
    if ((due || this.#mustWake) && this.#kernel.admit(this)) this.#wake();
  }

  ephemeral(message: EnvelopeParts): void {
    this.#life?.ephemeral(message);
  }

  /** Too late to take it back from the Worker: its commit will be refused, and the actor starts from its rows. */
  withdraw(): void {}

  tick(now: number): void {
    const idle = this.idleSince;
    if (idle !== undefined && now - idle >= this.#kernel.limits.idleMs) this.sleep();
    else if (this.#life) this.pump();
  }

  /** Ends an idle incarnation. Mail that comes later wakes the next one. */
  sleep(): void {
    this.#life?.end({ reason: "shutdown", detail: IDLE, suspect: false });
  }

  restart(): void {
    this.#history = [];
    this.#crashes = 0;
    this.#mustWake = true;
    if (this.#record.parkedReason !== undefined) {
      this.#record.parkedReason = undefined;
      void this.#kernel.commits.write(this.ref, parkStatements(this.#record, this.#kernel.clock.now()));
    }
    this.#cancelRest?.();
    if (this.#life) this.#life.end({ reason: "killed", detail: "a person restarted it", suspect: false });
    else this.#rested();
  }

  /** Hands over nothing more; what it has in hand may still be finished. */
  quiesce(): void {
    this.#stopping = true;
  }

  stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelRest?.();
    this.#alarm.cancel();
    const life = this.#life;
    if (!life) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onOver = resolve;
      life.end({ reason: "shutdown", detail: "the supervisor stopped", suspect: false });
    });
  }

  /** Whether the Worker has a message in hand, or a commit under way. */
  get isWorking(): boolean {
    return this.#life !== undefined && !this.#life.isIdle();
  }

  view(now: number): ActorView {
    const { ref, kind, incarnation, restarts, lastDown, parkedReason } = this.#record;
    const seat = this.#life?.seat;
    const host = seat?.host;
    const waits = this.#resting || this.#life !== undefined;
    return {
      ref,
      kind,
      state: parkedReason !== undefined
        ? "parked"
        : this.#life?.isLive
        ? "live"
        : waits
        ? "starting"
        : "sleeping",
      incarnation,
      host: host?.name,
      pid: host?.pid,
      heapMb: mebibytes(seat?.heapBytes),
      mailbox: this.#box.depth(now),
      currentMessage: this.#box.current(now),
      restarts,
      lastDown,
      parkedReason,
    };
  }

  #wake(): void {
    const { log, changed } = this.#kernel;
    this.#record.incarnation++;
    try {
      this.#life = this.#newLife();
    } catch (error) {
      // Nothing has begun, so nothing is down.
      this.#record.incarnation--;
      log("error", "an actor's process cannot be started", { ref: this.ref, error: String(error) });
      return this.#rest(RETRY_MS);
    }
    this.#mustWake = false;
    changed(this.ref);
    void this.#start(this.#life);
  }

  /** Throws when it needs a process and none can be started. */
  #newLife(): PureIncarnation {
    const kernel = this.#kernel;
    return new PureIncarnation({
      ref: this.ref,
      kind: this.#record.kind,
      number: this.#record.incarnation,
      entry: this.#spec.entry,
      placement: this.#quarantine === undefined
        ? { in: this.#spec.placement }
        : { in: "quarantine", group: this.#quarantine },
      box: this.#box,
      kernel,
      preamble: startStatements(this.#record, kernel.clock.now()),
      onCommitted: () => {
        this.#crashes = 0;
        this.#careful = false;
      },
      onRoom: () => this.pump(),
      onReady: () => kernel.changed(this.ref),
      onDown: (end, head) => this.#onDown(end, head),
    });
  }

  async #start(life: PureIncarnation): Promise<void> {
    const { clock, newId } = this.#kernel;
    const { incarnation, kind, lastDown } = this.#record;
    const crashes = this.#crashes;
    try {
      const loaded = await this.#kernel.load(kind, idOf(this.ref));
      life.start(loaded, {
        id: newId(),
        to: this.ref,
        from: "supervisor",
        type: "actor.woke",
        lane: "control",
        payload: JSON.stringify({ incarnation, crashes, lastDown: lastDown?.reason }),
        at: clock.now(),
      }, this.#stopping ? 0 : this.#window);
      this.pump();
    } catch (error) {
      life.end({
        reason: "error",
        detail: `its state could not be loaded: ${String(error)}`,
        suspect: false,
      });
    }
  }

  #onDown(end: SeatEnd, head: Mail | undefined): void {
    const { clock, commits, log } = this.#kernel;
    const { reason, detail, suspect } = end;
    const at = clock.now();
    const slept = detail === IDLE && reason === "shutdown";
    const preamble = this.#life?.preamble ?? [];
    this.#life = undefined;
    this.#record.lastDown = { reason, detail, at };
    this.#kernel.meter.down(this.#record.kind, reason);
    if (!slept && reason !== "shutdown") this.#record.restarts++;
    this.#mustWake = !slept;
    for (const mail of this.#box.inHand) this.#box.giveBack(mail.id);
    const failed = suspect ? head : undefined;
    void commits.write(
      this.ref,
      [...preamble, ...downStatements(this.#record, { reason, detail, at, suspect, failed: failed?.id })],
    );
    log(slept || reason === "shutdown" ? "debug" : suspect ? "error" : "warn", "an actor is down", {
      ref: this.ref,
      incarnation: this.#record.incarnation,
      reason,
      detail,
      suspect,
    });
    if (slept) this.#quarantine = undefined;
    else if (end.quarantine !== undefined) this.#quarantine = end.quarantine;
    this.#careful ||= suspect || end.quarantine !== undefined;
    if (suspect) this.#afterCrash(end, failed);
    else if (reason === "error") this.#rest(RETRY_MS);
    this.#kernel.changed(this.ref);
    this.#onOver?.();
    this.pump();
  }

  #afterCrash(end: SeatEnd, failed: Mail | undefined): void {
    const { clock, limits, random } = this.#kernel;
    this.#crashes++;
    if (failed && ++failed.failures >= limits.poisonAfter) {
      deadLetter(this.#kernel, failed, { code: "poison", message: end.detail });
      this.#history = [];
      this.#crashes = Math.min(this.#crashes, limits.poisonAfter);
      return this.#rest(0);
    }
    const singleton = this.#isCore;
    const next = afterCrash(this.#history, {
      now: clock.monotonic(),
      limits: limits.restart,
      random,
      singleton,
    });
    this.#history = next.history;
    if (next.action === "restart") return this.#rest(next.delayMs);
    this.#park(
      `it crashed ${next.history.length} times in ${limits.restart.windowMs / 1_000} s: ${end.detail}`,
    );
  }

  #park(reason: string): void {
    this.#record.parkedReason = reason;
    void this.#kernel.commits.write(this.ref, parkStatements(this.#record, this.#kernel.clock.now()));
    this.#kernel.note({ type: "parked", ref: this.ref, reason });
  }

  #rest(ms: number): void {
    this.#resting = true;
    this.#cancelRest = this.#kernel.clock.after(ms, () => this.#rested());
  }

  #rested(): void {
    this.#resting = false;
    this.pump();
  }
}
