/**
 * What runs in a pure host of the simulation: Workers that start, decide, beat and fail as those of `runtime/host.ts` and
 * `runtime/pure_worker.ts` do, each with the faults that the plan gives it.
 */
import type { Envelope, PureActor } from "../../runtime/actor.ts";
import type { FromHost, FromWorker, ToHost, WorkerCommit } from "../../runtime/link/link_messages.ts";
import type { Program, Shell } from "./process.ts";

/** What a Worker is told: `ToWorker` of `link_messages.ts`, with envelopes. */
type Incoming =
  | { t: "start"; ref: string; loaded: unknown; woke: Envelope; messages: Envelope[] }
  | { t: "deliver"; messages: Envelope[] };

interface SimWorker {
  readonly slot: number;
  ready: boolean;
  hangs: boolean;
  works: boolean;
  readonly inbox: (Envelope | Extract<Incoming, { t: "start" }>)[];
  /** Decisions of one turn: they leave together, or are lost with what stops the Worker. */
  decided: WorkerCommit[];
  state: unknown;
}

const BEAT_MS = 1_000;
const SPAWN_MS = 9;
const HEAP_FULL = 133;

/** What every Worker of the simulation runs. */
export interface PureProgramOptions {
  readonly actor: PureActor<unknown>;
  readonly newId: () => string;
}

/** A pure host. */
export class PureProgram implements Program {
  readonly #shell: Shell;
  readonly #options: PureProgramOptions;
  readonly #workers = new Map<number, SimWorker>();

  constructor(shell: Shell, options: PureProgramOptions) {
    this.#shell = shell;
    this.#options = options;
    this.#say({ t: "up" });
    shell.after(BEAT_MS, () => this.#beat());
  }

  orphaned(): void {
    this.#shell.exit(0);
  }

  receive(slot: number, text: string): void {
    if (slot === 0) return this.#command(JSON.parse(text) as ToHost); // the supervisor's own text
    const worker = this.#workers.get(slot);
    if (!worker) return;
    const message = JSON.parse(text) as Incoming; // as above
    if (message.t === "start") worker.inbox.push(message);
    worker.inbox.push(...message.messages);
    this.#work(worker);
  }

  #command(command: ToHost): void {
    if (command.t === "end") return this.#end(command.slot);
    const worker = {
      slot: command.slot,
      ready: false,
      hangs: false,
      works: false,
      inbox: [],
      decided: [],
      state: undefined,
    };
    this.#workers.set(command.slot, worker);
    this.#shell.after(SPAWN_MS, () => {
      worker.ready = true;
      this.#answer(worker, { t: "ready" });
      this.#work(worker);
    });
  }

  /** One that hangs does not close, and is not told as ended. */
  #end(slot: number): void {
    if (this.#workers.get(slot)?.hangs) return;
    this.#workers.delete(slot);
    this.#say({ t: "ended", slot });
  }

  #beat(): void {
    this.#say({ t: "beat", rss: 0 });
    for (const worker of this.#workers.values()) {
      if (worker.ready && !worker.hangs) this.#answer(worker, { t: "beat" });
    }
    this.#shell.after(BEAT_MS, () => this.#beat());
  }

  /** Handles what is in the inbox: one message a turn, or several as a busy Worker does. */
  #work(worker: SimWorker): void {
    if (worker.works || !worker.ready || worker.inbox.length === 0) return;
    worker.works = true;
    this.#shell.after(this.#shell.plan.work(), () => {
      worker.works = false;
      do this.#handleNext(worker); while (
        this.#isAlive(worker) && worker.inbox.length > 0 && this.#shell.plan.random.chance(0.7)
      );
      if (!this.#isAlive(worker)) return;
      this.#flush(worker);
      this.#work(worker);
    });
  }

  #isAlive(worker: SimWorker): boolean {
    return this.#workers.get(worker.slot) === worker && !worker.hangs;
  }

  #handleNext(worker: SimWorker): void {
    const item = worker.inbox.shift();
    if (!item || !this.#isAlive(worker)) return;
    const { actor } = this.#options;
    switch (this.#shell.plan.workerFault()) {
      case "none":
        break;
      case "throw":
        return this.#fail(worker, "it threw");
      case "hang":
        worker.hangs = true;
        return;
      case "heap":
        return this.#shell.exit(HEAP_FULL);
      case "close":
        this.#workers.delete(worker.slot);
        return this.#answer(worker, { t: "bye" });
      case "garbage":
        return this.#shell.say(worker.slot, '{"t":"commit"}');
    }
    try {
      if ("t" in item) worker.state = actor.restore(item.loaded, item.ref);
      const message = "t" in item ? item.woke : item;
      const env = { now: this.#shell.now(), newId: this.#options.newId };
      const { state, events, send, ops } = actor.decide(worker.state, message, env);
      worker.state = state;
      worker.decided.push({
        id: message.id,
        ...(events?.length ? { events } : {}),
        ...(send?.length ? { send } : {}),
        ...(ops?.length ? { ops } : {}),
      });
    } catch (error) {
      this.#fail(worker, String(error));
    }
  }

  #flush(worker: SimWorker): void {
    if (worker.decided.length > 0) this.#answer(worker, { t: "commits", commits: worker.decided });
    worker.decided = [];
  }

  #fail(worker: SimWorker, detail: string): void {
    this.#flush(worker);
    this.#workers.delete(worker.slot);
    this.#say({ t: "error", slot: worker.slot, detail });
  }

  #answer(worker: SimWorker, message: FromWorker): void {
    this.#shell.say(worker.slot, JSON.stringify(message));
  }

  #say(message: FromHost): void {
    this.#shell.say(0, JSON.stringify(message));
  }
}
