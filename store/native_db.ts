/**
 * A libSQL file through the native driver. Owns the one connection: WAL, `synchronous=FULL`, foreign keys on. Uses the driver below
 * `@libsql/client`, because the client prepares every statement anew, which tripled the cost of a commit. Promises that after SQLITE_BUSY the
 * connection is replaced before the caller hears of it, because libSQL 0.5 otherwise acknowledges writes that it never commits. Blocks its
 * isolate while SQLite works, so the supervisor keeps it in a Worker. Proven by `tests/contract/db_suite.ts`.
 */
import { PreparedConnection } from "./_prepared.ts";
import { type Db, DbError, type Rows, type Statement } from "./db.ts";
import { toDbError } from "./db_errors.ts";

/** Where the file is and how long to wait for its write lock. */
export interface NativeDbOptions {
  /** `file:/path/to.db`, `file:relative.db` or `:memory:`. */
  readonly url: string;
  /** How long one call may wait for another process's lock, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** Opens (or creates) the file. Rejects with `DbError` when it cannot be opened. */
export function openNativeDb(options: NativeDbOptions): Promise<Db> {
  return Promise.try(() => {
    const db = new NativeDb(pathOf(options.url), options.timeoutMs ?? 5_000);
    db.open();
    return db;
  });
}

/** Settings of the connection; WAL stays in the file. */
const SETTINGS = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"];

class NativeDb implements Db {
  readonly #path: string;
  readonly #timeoutMs: number;
  #connection: PreparedConnection | undefined;
  #closed = false;

  constructor(path: string, timeoutMs: number) {
    this.#path = path;
    this.#timeoutMs = timeoutMs;
  }

  /** Throws `DbError`. */
  open(): void {
    try {
      const connection = this.#connection = new PreparedConnection(this.#path, this.#timeoutMs);
      for (const text of SETTINGS) connection.run(plain(text));
    } catch (error) {
      this.#drop();
      throw toDbError(error);
    }
  }

  query(statement: Statement): Promise<Rows> {
    return Promise.try(() => this.#attempt((connection) => connection.run(statement)));
  }

  queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    return Promise.try(() => this.#transaction("BEGIN DEFERRED", statements));
  }

  batch(statements: readonly Statement[]): Promise<Rows[]> {
    return Promise.try(() => this.#transaction("BEGIN IMMEDIATE", statements));
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#drop();
    return Promise.resolve();
  }

  #transaction(begin: string, statements: readonly Statement[]): Rows[] {
    return this.#attempt((connection) => {
      connection.run(plain(begin));
      try {
        const results = statements.map((statement, index) => runMember(connection, statement, index));
        connection.run(plain("COMMIT"));
        return results;
      } finally {
        // SQLite itself has ended it after some errors, such as a full disk.
        if (connection.inTransaction) connection.run(plain("ROLLBACK"));
      }
    });
  }

  #attempt<T>(call: (connection: PreparedConnection) => T): T {
    if (this.#closed) throw new DbError("connection", "The database is closed");
    if (!this.#connection) this.#replaceConnection();
    const connection = this.#connection;
    if (!connection) throw new DbError("connection", "The database is closed");
    try {
      return call(connection);
    } catch (error) {
      const failure = toDbError(error);
      if (failure.kind === "busy" || connection.inTransaction) this.#replaceConnection();
      throw failure;
    }
  }

  /** Closing the connection drops the half-open transaction that BUSY may have left in it. */
  #replaceConnection(): void {
    this.#drop();
    try {
      this.open();
    } catch (cause) {
      const told = "The database file could not be opened again after it was busy";
      throw new DbError("connection", told, undefined, { cause });
    }
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** Runs one statement of a batch; its error says which it was. */
function runMember(connection: PreparedConnection, statement: Statement, index: number): Rows {
  try {
    return connection.run(statement);
  } catch (error) {
    const { kind, message, constraint } = toDbError(error);
    throw new DbError(kind, message, constraint, { cause: error, statement: index });
  }
}

function plain(text: string): Statement {
  return { sql: text, args: [] };
}

/** The file's path: `file:` with or without an empty authority, percent-encoding undone. */
function pathOf(url: string): string {
  if (url === ":memory:") return url;
  return decodeURIComponent(url.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/, ""));
}
