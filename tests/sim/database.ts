/**
 * The one database of the simulation: SQLite in memory, with the product's schema and with virtual time as its clock. It is never lost; what can
 * go wrong on the way to it is the business of `network.ts`. Tells a watcher of every batch before it commits, and keeps a list of messages
 * that were closed a second time.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { DbError, Rows, SqlValue, Statement } from "../../store/db.ts";
import { sql } from "../../store/db.ts";
import { toDbError } from "../../store/db_errors.ts";
import { statements as schema } from "../../store/migrations/0001_init.ts";

/** Told of each batch that is about to commit. */
export type OnBatch = (by: string, statements: readonly Statement[]) => void;

const CONSTRAINT = 19;

/** Closing a message twice is written down, because a statement that does it says nothing. */
const watching = [
  "CREATE TABLE closed_twice (id TEXT NOT NULL, was TEXT NOT NULL, became TEXT NOT NULL) STRICT",
  `CREATE TRIGGER message_closed_twice AFTER UPDATE OF state ON messages WHEN OLD.state IN ('done', 'dead')
   BEGIN INSERT INTO closed_twice VALUES (OLD.id, OLD.state, NEW.state); END`,
  "CREATE INDEX events_message ON events (payload ->> 'message')",
  "CREATE INDEX messages_all_of_one_text ON messages (to_ref, replaces, seq) WHERE replaces IS NOT NULL",
  "CREATE INDEX messages_call ON messages (payload ->> 'callId')",
];

/** SQLite in memory. */
export class MemoryDatabase {
  onBatch: OnBatch = () => {};
  readonly #db = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, { statement: StatementSync; columns: readonly string[] }>();

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    // The half microsecond keeps whole milliseconds whole when SQL multiplies by 1,000 and cuts.
    this.#db.function("unixepoch", { varargs: true }, () => now() / 1_000 + 5e-7);
    for (const text of [...schema, ...watching]) this.#db.exec(text);
  }

  /** One read. Throws `DbError`. */
  query(statement: Statement): Rows {
    try {
      return this.#run(statement);
    } catch (error) {
      throw readError(error);
    }
  }

  /** One transaction. Throws `DbError`. */
  batch(by: string, statements: readonly Statement[]): Rows[] {
    this.#db.exec("BEGIN IMMEDIATE");
    let index = 0;
    try {
      const rows: Rows[] = [];
      for (; index < statements.length; index++) rows.push(this.#run(statements[index] ?? sql("")));
      this.onBatch(by, statements);
      this.#db.exec("COMMIT");
      return rows;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw readError(error, index);
    }
  }

  /** The first column of the first row, as a number. */
  number(text: string, ...args: readonly SqlValue[]): number {
    return Number(this.query(sql(text, ...args)).rows[0]?.[0] ?? 0);
  }

  close(): void {
    this.#prepared.clear();
    this.#db.close();
  }

  #run({ sql: text, args }: Statement): Rows {
    let known = this.#prepared.get(text);
    if (!known) {
      const statement = this.#db.prepare(text);
      known = { statement, columns: statement.columns().map(({ name }) => name) };
      this.#prepared.set(text, known);
    }
    const { statement, columns } = known;
    const values = args as SQLInputValue[]; // both are what SQLite can hold
    if (columns.length === 0) {
      return { columns, rows: [], rowsAffected: Number(statement.run(...values).changes) };
    }
    const rows = statement.all(...values).map((row) =>
      columns.map((name) => (row[name] ?? null) as SqlValue)
    ); // the same values
    return { columns, rows, rowsAffected: rows.length };
  }
}

/** An error of Node's SQLite in the shape of the product's client. */
function readError(error: unknown, statementIndex?: number): DbError {
  if (!(error instanceof Error)) throw new TypeError(String(error));
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
  // Anything else is a mistake of the simulation itself.
  if (code === undefined) throw error;
  const name = code === CONSTRAINT ? "SQLITE_CONSTRAINT" : `SQLITE_${code}`;
  return toDbError({ code: name, message: error.message, statementIndex });
}
