/**
 * A child process of the simulation, at the `OpenLink` seam: two pipes that keep order and take virtual time, and a program that runs in this
 * isolate. Like the real link it tells of its end once, after all that the process had written. It can be killed (what it had not written is
 * lost), stopped, given a frame that is none, and orphaned. What runs inside is `pure_program.ts` or `gateway_program.ts`.
 */
import type { Entry } from "../../runtime/link/frames.ts";
import type { LinkEvents, ProcessLink } from "../../runtime/link/process_link.ts";
import type { ProcessEnd } from "../../runtime/supervise/judge_death.ts";
import type { FaultPlan } from "./plan.ts";
import type { MachineClock, Schedule } from "./schedule.ts";
import type { LinkWitness } from "./link_witness.ts";

/** What runs in a process. */
export interface Program {
  receive(slot: number, text: string): void;
  /** Its supervisor has closed the pipe, or is dead. */
  orphaned(): void;
}

/** What a program may do. */
export interface Shell {
  readonly plan: FaultPlan;
  readonly now: () => number;
  say(slot: number, text: string): void;
  /** Runs later, unless the process has ended; when it is stopped, once it goes on. */
  after(ms: number, run: () => void): void;
  exit(code: number): void;
}

/** What a process is made of. */
export interface ProcessOptions {
  readonly schedule: Schedule;
  readonly plan: FaultPlan;
  /** The supervisor's. */
  readonly clock: MachineClock;
  readonly pid: number;
  readonly isGateway: boolean;
  readonly program: (shell: Shell) => Program;
  readonly events: LinkEvents;
  readonly witness: LinkWitness;
  readonly onEnded: (process: SimProcess) => void;
}

type Timed = Entry & { readonly at: number };

/** A running process. */
export class SimProcess implements ProcessLink {
  readonly pid: number;
  readonly isGateway: boolean;
  readonly ended: Promise<void>;
  /** False from its end on. */
  runs = true;
  readonly #options: ProcessOptions;
  readonly #program: Program;
  readonly #resolveEnded: () => void;
  #stopped = false;
  #closed = false;
  #held: (() => void)[] = [];
  #toProcess: Timed[] = [];
  #toSupervisor: Timed[] = [];
  #lastIn = 0;
  #lastOut = 0;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.pid = options.pid;
    this.isGateway = options.isGateway;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#program = options.program({
      plan: options.plan,
      now: () => options.schedule.now,
      say: (slot, text) => this.#say(slot, text),
      after: (ms, run) => this.#after(ms, run),
      exit: (code) => this.#end({ code, signal: null, badFrame: false }),
    });
  }

  send(slot: number, text: string): void {
    const { schedule, plan, witness } = this.#options;
    if (this.#closed) return;
    witness.sent(this, slot, text);
    if (!this.runs) return;
    const at = Math.max(this.#lastIn, schedule.now + plan.hop());
    const isAwaited = this.#toProcess.at(-1)?.at === at;
    this.#toProcess.push({ slot, text, at });
    this.#lastIn = at;
    if (isAwaited) return;
    schedule.after(at - schedule.now, () => this.#enter(() => this.#receive()));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { schedule } = this.#options;
    schedule.after(
      Math.max(0, this.#lastIn - schedule.now),
      () => this.#enter(() => this.#program.orphaned()),
    );
  }

  kill(): void {
    this.#options.witness.killed(this);
    this.#end({ code: 137, signal: "SIGKILL", badFrame: false });
  }

  /** SIGKILL by somebody else: the end of what it was writing is lost. */
  killedByOthers(): void {
    const { plan } = this.#options;
    this.#toSupervisor.length = plan.random.between(0, this.#toSupervisor.length);
    this.#end({ code: 137, signal: "SIGKILL", badFrame: false });
  }

  /** Something in its output is no frame: the link drops what follows and kills it. */
  corrupt(): void {
    this.#toSupervisor = [];
    this.#end({ code: 137, signal: "SIGKILL", badFrame: true });
  }

  /** SIGSTOP. */
  stop(): void {
    this.#stopped = true;
  }

  /** The supervisor is dead: the pipe ends. */
  orphan(): void {
    this.#options.schedule.after(this.#options.plan.random.between(0, 20), () => {
      // Nobody will kill a stopped process now but the kernel, which ends it with its supervisor's group.
      if (this.#stopped) this.#end({ code: 137, signal: "SIGKILL", badFrame: false });
      else this.#enter(() => this.#program.orphaned());
    });
  }

  #say(slot: number, text: string): void {
    if (!this.runs) return;
    const { schedule, plan } = this.#options;
    const at = Math.max(this.#lastOut, schedule.now + plan.hop());
    const isAwaited = this.#toSupervisor.at(-1)?.at === at;
    this.#toSupervisor.push({ slot, text, at });
    this.#lastOut = at;
    if (isAwaited) return;
    schedule.after(at - schedule.now, () => this.#deliver(at));
  }

  #receive(): void {
    while (this.runs && (this.#toProcess[0]?.at ?? Infinity) <= this.#options.schedule.now) {
      const entry = this.#toProcess.shift();
      if (entry) this.#program.receive(entry.slot, entry.text);
    }
  }

  /** Hands over everything that has arrived, in one turn of the supervisor's loop. */
  #deliver(until: number): void {
    this.#options.clock.enter(() => {
      while ((this.#toSupervisor[0]?.at ?? Infinity) <= until) {
        const entry = this.#toSupervisor.shift();
        if (!entry) return;
        this.#options.witness.heard(this, entry.slot, entry.text);
        this.#options.events.onEntry(entry);
      }
    });
  }

  #after(ms: number, run: () => void): void {
    this.#options.schedule.after(ms, () => this.#enter(run));
  }

  #enter(run: () => void): void {
    if (!this.runs) return;
    if (this.#stopped) this.#held.push(run);
    else run();
  }

  #end(end: ProcessEnd): void {
    if (!this.runs) return;
    this.runs = false;
    this.#held = [];
    this.#toProcess = [];
    const { schedule, clock, plan, events, witness, onEnded } = this.#options;
    const ms = Math.max(this.#lastOut - schedule.now, 0) + plan.random.between(1, 4);
    schedule.after(ms, () => {
      onEnded(this);
      this.#deliver(Infinity);
      clock.enter(() => {
        witness.ended(this);
        events.onExit(end);
        this.#resolveEnded();
      });
    });
  }
}
