/**
 * The way from one supervisor to the database: every call takes virtual time there and back, and meets the faults of the plan. What was sent
 * before the supervisor's end may still arrive; answers to a dead one do not.
 */
import type { Db, Rows, Statement } from "../../store/db.ts";
import { FaultyDb } from "../doubles/faulty_db.ts";
import type { MemoryDatabase } from "./database.ts";
import type { FaultPlan } from "./plan.ts";
import type { MachineClock, Schedule } from "./schedule.ts";

/** Who calls, and over what. */
export interface NetworkOptions {
  readonly by: string;
  readonly database: MemoryDatabase;
  readonly schedule: Schedule;
  readonly clock: MachineClock;
  readonly plan: FaultPlan;
}

const LATE_MS = 12_000;

/** A supervisor's connection. */
export class NetworkDb implements Db {
  readonly #options: NetworkOptions;
  readonly #faulty: FaultyDb;

  constructor(options: NetworkOptions) {
    const { database, by } = options;
    this.#options = options;
    this.#faulty = new FaultyDb({
      query: (statement) => Promise.try(() => database.query(statement)),
      queryAll: (statements) => Promise.try(() => statements.map((statement) => database.query(statement))),
      batch: (statements) => Promise.try(() => database.batch(by, statements)),
      close: () => Promise.resolve(),
    });
  }

  /** While true, nothing reaches the database. */
  set away(away: boolean) {
    this.#faulty.away = away;
  }

  query(statement: Statement): Promise<Rows> {
    return this.#call("query", () => this.#faulty.query(statement));
  }

  queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    return this.#call("query", () => this.#faulty.queryAll(statements));
  }

  batch(statements: readonly Statement[]): Promise<Rows[]> {
    return this.#call("batch", () => this.#faulty.batch(statements));
  }

  close(): Promise<void> {
    return this.#faulty.close();
  }

  #call<T>(kind: "batch" | "query", call: () => Promise<T>): Promise<T> {
    const { schedule, plan, clock } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const answer = (run: () => void) =>
      void schedule.after(plan.latency(schedule.now), () => clock.enter(run));
    schedule.after(plan.latency(schedule.now), () => {
      if (clock.state === "ended" && plan.random.chance(0.5)) return;
      this.#plan(kind);
      call().then((value) => answer(() => resolve(value)), (error) => answer(() => reject(error)));
      this.#faulty.batches.length = 0;
    });
    return promise;
  }

  #plan(kind: "batch" | "query"): void {
    const { plan, schedule } = this.#options;
    const faults = kind === "batch" ? this.#faulty.batchFaults : this.#faulty.queryFaults;
    const fault = plan.databaseFault(kind, schedule.now);
    // While it is away no fault is used up.
    faults.length = 0;
    faults.push(fault);
    if (fault === "late") {
      schedule.after(plan.random.between(1, LATE_MS), () => void this.#faulty.arrive());
    }
  }
}
