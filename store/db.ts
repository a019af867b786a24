/**
 * The seam under everything that knows SQL: statements in, rows out, writes only as atomic batches. Three implementations: the store
 * Worker (supervisor), a direct native client (tools and tests) and the web client (edge on Deno Deploy). It knows no table.
 * `tests/contract/db_suite.ts` runs the same promises against all of them.
 */

/** A value as SQLite knows it. Bind integers as `bigint`: libSQL binds JS numbers as REAL. */
export type SqlValue = null | string | number | bigint | Uint8Array;

/** One statement with positional arguments (`?`). */
export interface Statement {
  readonly sql: string;
  readonly args: readonly SqlValue[];
  /** Says in words what a guard checks; a failed commit names it. Set by `labelled()`. */
  readonly label?: string;
}

/** What one statement gave back. Integer columns arrive as `number` (they are below 2^53 by design). */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly rowsAffected: number;
}

/**
 * A libSQL database. Every method rejects with `DbError`. After `busy`, `timeout` and `connection` the implementation has already
 * replaced its connection: the next call is safe, but whether the failed batch was applied must be read back.
 */
export interface Db {
  /** One read. */
  query(statement: Statement): Promise<Rows>;
  /** Several reads against one snapshot. */
  queryAll(statements: readonly Statement[]): Promise<Rows[]>;
  /** All statements in one write transaction, or none of them. */
  batch(statements: readonly Statement[]): Promise<Rows[]>;
  close(): Promise<void>;
}

/** Why a database call failed, reduced to what a caller can act on. */
export type DbErrorKind = "busy" | "constraint" | "connection" | "timeout" | "full" | "other";

/** What else is known of a failed call: its cause and, in a batch, the index of the statement that failed. */
export interface DbErrorOptions extends ErrorOptions {
  readonly statement?: number | undefined;
}

/** A failed database call. `constraint` holds the SQLite message's table and column, for example `guard.ok`. */
export class DbError extends Error {
  override readonly name = "DbError";
  /** Index in the batch of the statement that failed, where the database told it. */
  readonly statement: number | undefined;
  constructor(
    readonly kind: DbErrorKind,
    message: string,
    readonly constraint?: string,
    options?: DbErrorOptions,
  ) {
    super(message, options);
    this.statement = options?.statement;
  }
}

/** Builds a statement: `sql("SELECT ?", 1n)`. Whole JS numbers are turned into `bigint`, booleans into 0 and 1. */
export function sql(text: string, ...args: readonly (SqlValue | boolean | undefined)[]): Statement {
  return { sql: text, args: args.map(bindable) };
}

function bindable(value: SqlValue | boolean | undefined): SqlValue {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  return value;
}

/** Rows as objects keyed by column name. The caller names the shape; migrations and STRICT tables are what make it true. */
export function objects<T>(rows: Rows): T[] {
  return rows.rows.map((row) =>
    // The columns are those of our own SELECT over STRICT tables.
    Object.fromEntries(rows.columns.map((column, index) => [column, row[index]])) as T
  );
}

/**
 * A compare-and-set as a statement that fails: when `condition` (an SQL expression) is not true, the batch rolls back with a
 * `constraint` error on `guard.ok`. A zero-row UPDATE would not roll anything back.
 */
export function guard(condition: string, ...args: readonly (SqlValue | boolean | undefined)[]): Statement[] {
  return [
    sql(`INSERT INTO guard (ok) VALUES ((SELECT 1 WHERE ${condition}))`, ...args),
    sql("DELETE FROM guard"),
  ];
}

/** The same statements under a label that a failed commit's message will show, such as `item still waiting`. */
export function labelled(label: string, statements: readonly Statement[]): Statement[] {
  return statements.map((statement) => ({ ...statement, label }));
}
