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
}

/** What one statement gave back. Integer columns arrive as `number` (they are below 2^53 by design). */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly rowsAffected: number;
}

/** A libSQL database. Every method rejects with `DbError`. */
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

/** A failed database call. `constraint` holds the SQLite message's table and column, for example `guard.ok`. */
export class DbError extends Error {
  override readonly name = "DbError";
  constructor(
    readonly kind: DbErrorKind,
    message: string,
    readonly constraint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
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
