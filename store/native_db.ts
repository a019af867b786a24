/**
 * A libSQL file through the native client. Owns the one connection: `concurrency: 1`, WAL, `synchronous=FULL`, foreign keys on. Promises
 * that after SQLITE_BUSY the connection is replaced before the caller hears of it, because libSQL 0.5 otherwise acknowledges writes
 * that it never commits. Blocks its isolate while SQLite works, so the supervisor keeps it in a Worker. The only importer of
 * `@libsql/client`. Proven by `tests/contract/db_suite.ts`.
 */
import { type Client, createClient } from "@libsql/client";
import { fromClient, toClient } from "./_libsql.ts";
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
export async function openNativeDb(options: NativeDbOptions): Promise<Db> {
  let client: Client;
  try {
    client = createClient({
      url: options.url,
      concurrency: 1,
      timeout: options.timeoutMs ?? 5_000,
      intMode: "number",
    });
  } catch (error) {
    throw toDbError(error);
  }
  try {
    await client.execute("PRAGMA journal_mode = WAL");
    await applyPragmas(client);
  } catch (error) {
    client.close();
    throw toDbError(error);
  }
  return new NativeDb(client);
}

/** Settings that live in the connection and not in the file. */
async function applyPragmas(client: Client): Promise<void> {
  await client.execute("PRAGMA synchronous = FULL");
  await client.execute("PRAGMA foreign_keys = ON");
}

class NativeDb implements Db {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async query(statement: Statement): Promise<Rows> {
    return fromClient(await this.#run(() => this.#client.execute(toClient(statement))));
  }

  async queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    return (await this.#run(() => this.#client.batch(statements.map(toClient), "deferred"))).map(fromClient);
  }

  async batch(statements: readonly Statement[]): Promise<Rows[]> {
    return (await this.#run(() => this.#client.batch(statements.map(toClient), "write"))).map(fromClient);
  }

  close(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }

  async #run<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const failure = toDbError(error);
      if (failure.kind === "busy" && !this.#client.closed) await this.#replaceConnection();
      throw failure;
    }
  }

  /** Closing the connection drops the half-open transaction that BUSY may have left in it. */
  async #replaceConnection(): Promise<void> {
    try {
      await this.#client.reconnect();
      await applyPragmas(this.#client);
    } catch (cause) {
      throw new DbError(
        "connection",
        "The database file could not be opened again after it was busy",
        undefined,
        { cause },
      );
    }
  }
}
