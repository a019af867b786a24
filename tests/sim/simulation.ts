/**
 * One run of the simulation: two supervisors that compete for one database, clients, and faults by plan, for a number of steps; then calm, until
 * everything has come to rest and the rows are judged. The seed decides everything, so a seed that fails fails again at the same step.
 */
import { sql } from "../../store/db.ts";
import { Client } from "./client.ts";
import { MemoryDatabase } from "./database.ts";
import { checkRows } from "./final_checks.ts";
import { limits, Machine } from "./machine.ts";
import { FaultPlan, type WorldFault } from "./plan.ts";
import { Schedule } from "./schedule.ts";
import { type Violation, Witness } from "./witness.ts";

/** Which run. */
export interface RunOptions {
  readonly seed: number;
  /** Steps under faults; coming to rest takes some more. */
  readonly steps: number;
  /** Prints everything that happens. */
  readonly loud?: boolean;
}

/** What came of it. */
export interface RunReport {
  readonly seed: number;
  readonly steps: number;
  /** Virtual milliseconds. */
  readonly virtualMs: number;
  readonly messages: number;
  readonly downs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
}

const LOOK_EVERY = 100;
/** Virtual time after which a run that has not come to rest never will. */
const REST_MS = 600_000;

/** Runs it to its end, or to the first broken promise. */
export async function run(options: RunOptions): Promise<RunReport> {
  const simulation = new Simulation(options);
  try {
    await simulation.live();
    await simulation.rest();
    return simulation.report();
  } finally {
    simulation.close();
  }
}

class Simulation {
  readonly #options: RunOptions;
  readonly #schedule = new Schedule();
  readonly #database = new MemoryDatabase(() => this.#schedule.now);
  readonly #plan: FaultPlan;
  readonly #witness: Witness;
  readonly #client: Client;
  readonly #machines: Machine[] = [];
  readonly #faults: Record<string, number> = {};
  #ids = 0;
  #lives = 0;
  #closing = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#plan = new FaultPlan(options.seed);
    const { loud = false } = options;
    this.#witness = new Witness(this.#database, this.#schedule, { bound: limits.mailbox, loud });
    this.#boot(0);
    this.#boot(1);
    this.#client = new Client({
      database: this.#database,
      schedule: this.#schedule,
      random: this.#plan.random,
      newId: this.#newId,
      machines: () => this.#machines,
    });
    this.#nextFault();
  }

  /** Goes on under faults. */
  async live(): Promise<void> {
    while (this.#schedule.steps < this.#options.steps && await this.#step());
  }

  /** Without faults everything finishes; then the rows must be right. */
  async rest(): Promise<void> {
    if (this.#witness.violation) return;
    this.#plan.calm = true;
    this.#client.close();
    for (const machine of this.#machines) {
      machine.network.away = false;
      machine.clock.goOn();
    }
    const end = this.#schedule.now + REST_MS;
    while (this.#schedule.now < end && !this.#isAtRest() && await this.#step()) this.#unpark();
    if (!this.#isAtRest()) this.#tellWhoWaits();
    await this.#stopAll();
    if (!this.#witness.violation) checkRows(this.#database, this.#client, this.#witness);
  }

  report(): RunReport {
    return {
      seed: this.#options.seed,
      steps: this.#schedule.steps,
      virtualMs: this.#schedule.now - 1_700_000_000_000,
      messages: this.#database.number("SELECT count(*) FROM messages"),
      downs: this.#database.number("SELECT count(*) FROM downs"),
      faults: this.#faults,
      violation: this.#witness.violation,
      trace: this.#witness.trace,
    };
  }

  close(): void {
    for (const machine of this.#machines) machine.clock.end();
    this.#database.close();
  }

  readonly #newId = (): string => `id-${(++this.#ids).toString().padStart(8, "0")}`;

  /** One step; false when the run is over. */
  async #step(): Promise<boolean> {
    if (this.#schedule.steps % LOOK_EVERY === 0) this.#witness.look();
    return await this.#schedule.step() && this.#witness.violation === undefined;
  }

  /** No message is open, and somebody runs who could handle one. */
  #isAtRest(): boolean {
    const phases = this.#machines.map(({ phase }) => phase);
    return phases.includes("runs") && !phases.includes("starts") &&
      this.#database.number("SELECT count(*) FROM messages WHERE state IN ('queued', 'started')") === 0;
  }

  #tellWhoWaits(): void {
    for (const { runtime } of this.#running()) {
      for (const view of runtime?.actors() ?? []) this.#witness.tell(JSON.stringify(view));
    }
  }

  /** Whoever waits for the lease goes first, so that nobody begins when the others end. */
  async #stopAll(): Promise<void> {
    this.#closing = true;
    for (const machine of this.#machines) if (machine.phase !== "runs") machine.end("the run is over");
    for (const machine of this.#running()) {
      let stopped = false;
      void machine.stop().then(() => stopped = true);
      const end = this.#schedule.now + REST_MS;
      while (!stopped && machine.phase === "runs" && this.#schedule.now < end && await this.#schedule.step());
      if (machine.phase === "runs") this.#witness.broken("a supervisor stops in time", machine.name);
    }
  }

  #running(): Machine[] {
    return this.#machines.filter(({ phase }) => phase === "runs");
  }

  #unpark(): void {
    if (this.#schedule.steps % LOOK_EVERY !== 0) return;
    for (const { runtime } of this.#running()) {
      for (const { ref, state } of runtime?.actors() ?? []) if (state === "parked") runtime?.restart(ref);
    }
  }

  /** A supervisor in this place; when it is gone, the next one. */
  #boot(place: number): void {
    const machine = new Machine({
      name: `${place === 0 ? "A" : "B"}${++this.#lives}`,
      schedule: this.#schedule,
      plan: this.#plan,
      database: this.#database,
      witness: this.#witness,
      newId: this.#newId,
      onGone: () => {
        if (this.#closing) return;
        this.#schedule.after(this.#plan.random.between(100, 4_000), () => {
          if (!this.#closing) this.#boot(place);
        });
      },
    });
    this.#machines[place] = machine;
    void machine.boot();
  }

  #nextFault(): void {
    const { fault, afterMs } = this.#plan.worldFault();
    this.#schedule.after(afterMs, () => {
      if (this.#plan.calm) return;
      const machine = this.#plan.random.pickAny(this.#running());
      if (machine && this.#do(fault, machine)) {
        this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
        this.#witness.tell(`${machine.name}: ${fault}`);
      }
      this.#nextFault();
    });
  }

  /** False when there was nothing to do it to. */
  #do(fault: WorldFault, machine: Machine): boolean {
    const { random } = this.#plan;
    const host = random.pickAny(machine.processes.filter(({ isGateway }) => !isGateway));
    const gateway = machine.processes.find(({ isGateway }) => isGateway);
    switch (fault) {
      case "kill host":
        host?.killedByOthers();
        return host !== undefined;
      case "stop host":
        host?.stop();
        return host !== undefined;
      case "corrupt frame":
        host?.corrupt();
        return host !== undefined;
      case "kill gateway":
        gateway?.killedByOthers();
        return gateway !== undefined;
      case "stop gateway":
        gateway?.stop();
        return gateway !== undefined;
      case "kill supervisor":
        machine.end("killed");
        return true;
      case "stop supervisor":
        machine.clock.stop();
        this.#schedule.after(random.between(200, 12_000), () => machine.clock.goOn());
        return true;
      case "lease stolen":
        // Its gateway is gone at once: what it had begun in the world cannot be fenced by a lease that ends before its time.
        gateway?.killedByOthers();
        this.#database.batch("edge", [
          sql(
            "UPDATE leases SET holder = 'a third supervisor', fence = fence + 1, expires_at = ? WHERE holder = ?",
            this.#schedule.now + random.between(500, 4_000),
            machine.name,
          ),
        ]);
        return true;
      case "database away":
        machine.network.away = true;
        this.#schedule.after(random.between(100, 6_000), () => machine.network.away = false);
        return true;
      case "database slow":
        this.#plan.slowUntil = this.#schedule.now + random.between(200, 3_000);
        return true;
      case "disk full":
        this.#plan.fullUntil = this.#schedule.now + random.between(50, 1_500);
        return true;
      case "person restarts": {
        const ref = `conversation/${random.between(0, 7)}`;
        machine.clock.enter(() => void machine.runtime?.restart(ref));
        return true;
      }
      default:
        return fault satisfies never;
    }
  }
}
