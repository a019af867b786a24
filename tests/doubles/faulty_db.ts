/**
 * A `Db` that fails as it is told before or after the real one did its work: the faults of a network and of a lock, without either. Used by the
 * committer's tests and the simulation.
 */
import { type Db, DbError, type Rows, type Statement } from "../../store/db.ts";

/**
 * What the next call meets. `none`: the database itself. `lose_request`: nothing happens. `lose_answer`: it happens, the answer is lost. `busy`: the lock is held.
 * `late`: no answer now, and it happens only when `FaultyDb.arrive()` is called. An error is thrown as it is.
 */
export type DbFault = "none" | "lose_request" | "lose_answer" | "busy" | "late" | DbError;

/** Wraps a database; faults are used up first in, first out. */
export class FaultyDb implements Db {
  /** For the next batches. */
  readonly batchFaults: DbFault[] = [];
  /** For the next reads. */
  readonly queryFaults: DbFault[] = [];
  /** While true, nothing reaches the database. */
  away = false;
  /** While true, there is no room for any batch; reads are answered. */
  full = false;
  /** Every batch that was asked for. */
  readonly batches: (readonly Statement[])[] = [];
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  query(statement: Statement): Promise<Rows> {
    return this.#meet(this.queryFaults.shift(), () => this.#db.query(statement));
  }

  queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    return this.#meet(this.queryFaults.shift(), () => this.#db.queryAll(statements));
  }

  batch(statements: readonly Statement[]): Promise<Rows[]> {
    this.batches.push(statements);
    if (this.full) return Promise.reject(new DbError("full", "database or disk is full"));
    return this.#meet(this.batchFaults.shift(), () => this.#db.batch(statements));
  }

  close(): Promise<void> {
    return this.#db.close();
  }

  /** Lets every late call reach the database; gives for each whether it succeeded. */
  async arrive(): Promise<boolean[]> {
    const outcomes: boolean[] = [];
    for (const call of this.#late.splice(0)) outcomes.push(await call().then(() => true, () => false));
    return outcomes;
  }

  async #meet<T>(fault: DbFault | undefined, call: () => Promise<T>): Promise<T> {
    if (this.away) throw new DbError("connection", "away");
    if (fault === undefined || fault === "none") return await call();
    if (fault instanceof DbError) throw fault;
    if (fault === "busy") throw new DbError("busy", "database is locked");
    if (fault === "late") this.#late.push(call);
    if (fault === "lose_answer") await call();
    throw new DbError("timeout", `the test chose ${fault}`);
  }
}
