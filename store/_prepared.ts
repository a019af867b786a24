/**
 * One native connection with its prepared statements, kept by their text: preparing anew costs more than running most of ours. Forgets them all
 * when anything but a plain read, write or transaction has run (the schema may differ then) and after an error. The only importer of `libsql`.
 * Proven by `tests/contract/db_suite.ts`.
 */
import Libsql from "libsql";
import type { Rows, SqlValue, Statement } from "./db.ts";
import { DbError } from "./db.ts";

/** More texts than the product has; the oldest go first. */
const MAX_KEPT = 256;
const KEPT = /^\s*(?:INSERT|UPDATE|DELETE|SELECT|WITH|BEGIN|COMMIT|ROLLBACK)\b/i;

interface Prepared {
  readonly statement: Libsql.Statement<unknown[]>;
  /** Undefined when it gives no rows. */
  readonly columns: readonly string[] | undefined;
}

/** A connection. Every method throws what the driver throws. */
export class PreparedConnection {
  readonly #database: Libsql.Database;
  readonly #kept = new Map<string, Prepared>();

  /** `path` of the file or `:memory:`; `timeoutMs` is the longest wait for a lock. */
  constructor(path: string, timeoutMs: number) {
    this.#database = new Libsql(path, { timeout: timeoutMs });
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  run({ sql, args }: Statement): Rows {
    const keeps = KEPT.test(sql);
    try {
      const { statement, columns } = this.#prepare(sql, keeps);
      const values = args.map(toNative);
      if (!columns) return { columns: [], rows: [], rowsAffected: statement.run(values).changes };
      const rows = statement.all(values) as unknown[][]; // raw mode gives arrays
      return { columns, rows: rows.map((row) => row.map(fromNative)), rowsAffected: 0 };
    } catch (error) {
      this.#kept.clear();
      throw error;
    } finally {
      if (!keeps) this.#kept.clear();
    }
  }

  close(): void {
    this.#kept.clear();
    this.#database.close();
  }

  #prepare(sql: string, keeps: boolean): Prepared {
    const known = this.#kept.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    statement.safeIntegers(true);
    const columns = givesRows(statement) ? statement.columns().map((column) => column.name) : undefined;
    const prepared = { statement, columns };
    if (!keeps) return prepared;
    this.#kept.set(sql, prepared);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return prepared;
  }
}

/** Switches to rows as arrays, which the driver refuses for a statement without any. */
function givesRows(statement: Libsql.Statement<unknown[]>): boolean {
  try {
    statement.raw(true);
    return true;
  } catch {
    return false;
  }
}

/** Whole numbers become `bigint`, which the driver binds as INTEGER, not REAL. Throws `RangeError` for what SQLite cannot hold. */
function toNative(value: SqlValue): SqlValue {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new RangeError(`a number must be finite, received ${value}`);
    return Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "bigint" && BigInt.asIntN(64, value) !== value) {
    throw new RangeError("an integer must fit into 64 bits");
  }
  return value;
}

function fromNative(value: unknown): SqlValue {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new RangeError("an integer must be below 2^53");
    return number;
  }
  if (value instanceof Uint8Array) return new Uint8Array(value);
  throw new DbError("other", `The database driver returned a value of an unknown type (${typeof value})`);
}
