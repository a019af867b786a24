/**
 * The fault plan: every chance of a fault, in one place. Made from the seed, which also decides which faults this run has none of and which it
 * has many of: rare meetings of two faults come from runs that have little else. When it is calm nothing fails and everything is quick, so
 * that a run can come to rest and be judged. Times are milliseconds.
 */
import { DbError } from "../../store/db.ts";
import type { DbFault } from "../doubles/faulty_db.ts";
import { Random } from "./random.ts";

/** What happens to a Worker at a message. */
export type WorkerFault = "none" | "throw" | "hang" | "heap" | "close" | "garbage";

/** Where a gateway may die at a message. */
export type GatewayFault = "none" | "reject" | "exit";

/** What happens to the world, now and then. */
export type WorldFault =
  | "kill host"
  | "stop host"
  | "corrupt frame"
  | "kill gateway"
  | "stop gateway"
  | "kill supervisor"
  | "stop supervisor"
  | "lease stolen"
  | "database away"
  | "database slow"
  | "disk full"
  | "person restarts";

const worldFaults: Readonly<Record<WorldFault, number>> = {
  "kill host": 6,
  "stop host": 1,
  "corrupt frame": 1,
  "kill gateway": 5,
  "stop gateway": 1,
  "kill supervisor": 2,
  "stop supervisor": 2,
  "lease stolen": 1,
  "database away": 1,
  "database slow": 2,
  "disk full": 1,
  "person restarts": 3,
};

const worldFaultNames = Object.keys(worldFaults) as WorldFault[]; // the record's own names

/** Chances of one run. */
export class FaultPlan {
  /** Nothing fails from now on. */
  calm = false;
  /** Until when (virtual time) every call of the database takes long. */
  slowUntil = 0;
  /** Until when the database's disk is full. */
  fullUntil = 0;
  readonly random: Random;
  /** How often things happen in this run: 1 is usual. */
  readonly #rates: Readonly<Record<"link" | "database" | "worker" | "gateway" | "process", number>>;
  readonly #worldFaults: Readonly<Record<WorldFault, number>>;

  constructor(seed: number) {
    this.random = new Random(seed);
    const rate = () => this.random.pick([0, 0.3, 1, 1, 4]);
    this.#rates = { link: rate(), database: rate(), worker: rate(), gateway: rate(), process: rate() };
    const weights = worldFaultNames.map((name) => [name, worldFaults[name] * rate()] as const);
    // A person's wish harms nobody; something always has a weight.
    this.#worldFaults = { ...worldFaults, ...Object.fromEntries(weights), "person restarts": 1 };
  }

  /** How long a frame is on its way. */
  hop(): number {
    if (this.calm || !this.random.chance(0.003 * this.#rates.link)) return this.random.between(0, 2);
    return this.random.between(50, 2_500);
  }

  /** How long a handler computes. */
  work(): number {
    return this.random.between(0, 3);
  }

  /** One way to the database, or back. */
  latency(now: number): number {
    if (this.calm) return 0;
    return now < this.slowUntil ? this.random.between(50, 800) : this.random.between(0, 3);
  }

  databaseFault(kind: "batch" | "query", now: number): DbFault {
    if (kind === "batch" && !this.calm && now < this.fullUntil) {
      return new DbError("full", "the disk is full");
    }
    if (this.calm || !this.random.chance(0.02 * this.#rates.database)) return "none";
    if (kind === "query") return this.random.pick(["lose_request", "lose_answer", "busy"]);
    return this.random.weighted({ busy: 6, lose_request: 3, lose_answer: 4, late: 2 });
  }

  workerFault(): WorkerFault {
    if (this.calm || !this.random.chance(0.004 * this.#rates.worker)) return "none";
    return this.random.weighted({ throw: 10, close: 3, garbage: 2, heap: 2, hang: 1 });
  }

  gatewayFault(): GatewayFault {
    if (this.calm || !this.random.chance(0.006 * this.#rates.gateway)) return "none";
    return this.random.pick(["reject", "exit"]);
  }

  /** Whether a process cannot be started. */
  startFails(): boolean {
    return !this.calm && this.random.chance(0.02 * this.#rates.process);
  }

  /** The next fault of the world and how long until then. */
  worldFault(): { readonly fault: WorldFault; readonly afterMs: number } {
    return { fault: this.random.weighted(this.#worldFaults), afterMs: this.random.between(20, 1_500) };
  }
}
