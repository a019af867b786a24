/**
 * Between the web client and the plain types of `store/db.ts`: arguments out, rows back. Knows the shape of a result, not the package that
 * made it. Proven by `tests/contract/db_suite.ts`.
 */
import { DbError, type Rows, type SqlValue, type Statement } from "./db.ts";

/** The part of a client's result that we read. */
export interface ClientResult {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly [column: number]: unknown }[];
  readonly rowsAffected: number;
}

/** A statement in the form that both clients take. */
export interface ClientStatement {
  sql: string;
  args: SqlValue[];
}

/** Copies a statement for the client; numbers that are whole become `bigint`, which the client binds as INTEGER, not REAL. */
export function toClient(statement: Statement): ClientStatement {
  return { sql: statement.sql, args: statement.args.map(wholeAsBigint) };
}

function wholeAsBigint(value: SqlValue): SqlValue {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** A client's result as `Rows`. Throws `DbError` for a value that SQLite cannot have sent. */
export function fromClient(result: ClientResult): Rows {
  return {
    columns: [...result.columns],
    rows: result.rows.map((row) => result.columns.map((_, index) => plain(row[index]))),
    rowsAffected: result.rowsAffected,
  };
}

function plain(value: unknown): SqlValue {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new DbError("other", `The database client returned a value of an unknown type (${typeof value})`);
}
