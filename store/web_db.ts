/**
 * A remote libSQL database over HTTP (Hrana 2). The only importer of `@libsql/client/web`; what the edge on Deno Deploy uses. Owns two
 * clients: reads reuse connections, writes never do, because `fetch` by itself sends a POST again when a kept-alive connection drops.
 * Every call ends within `timeoutMs`. Knows nothing of leases or commits. Proven by `tests/contract/db_suite.ts`.
 */
import { type Client, createClient } from "@libsql/client/web";
import type { Clock } from "../lib/clock.ts";
import { systemClock } from "../lib/clock.ts";
import { fromClient, toClient } from "./_libsql.ts";
import { type Db, type DbErrorKind, type Rows, type Statement } from "./db.ts";
import { toDbError } from "./db_errors.ts";

/** Where the database is and how to be let in. */
export interface WebDbOptions {
  /** `libsql://host`, `https://host` or, for tests, `http://127.0.0.1:port`. */
  readonly url: string;
  readonly authToken?: string | undefined;
  /** How long one call may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

const UNSURE: ReadonlySet<DbErrorKind> = new Set<DbErrorKind>(["busy", "timeout", "connection"]);

/** Opens the database and asks it one question, so that a wrong URL or token fails here. Rejects with `DbError`. */
export async function openWebDb(options: WebDbOptions): Promise<Db> {
  const db = new WebDb(options);
  try {
    await db.query({ sql: "SELECT 1", args: [] });
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

class WebDb implements Db {
  readonly #reader: Client;
  readonly #writer: Client;
  readonly #http: Deno.HttpClient;

  constructor(options: WebDbOptions) {
    const clock = options.clock ?? systemClock;
    const timeoutMs = options.timeoutMs ?? 5_000;
    this.#http = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    try {
      this.#reader = client(options, 8, boundedFetch(clock, timeoutMs));
      this.#writer = client(options, 1, boundedFetch(clock, timeoutMs, this.#http));
    } catch (error) {
      this.#http.close();
      throw toDbError(error);
    }
  }

  async query(statement: Statement): Promise<Rows> {
    return fromClient(await run(this.#reader, (reader) => reader.execute(toClient(statement))));
  }

  async queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    return (await run(this.#reader, (reader) => reader.batch(statements.map(toClient), "deferred"))).map(
      fromClient,
    );
  }

  async batch(statements: readonly Statement[]): Promise<Rows[]> {
    return (await run(this.#writer, (writer) => writer.batch(statements.map(toClient), "write"))).map(
      fromClient,
    );
  }

  close(): Promise<void> {
    this.#reader.close();
    this.#writer.close();
    this.#http.close();
    return Promise.resolve();
  }
}

function client(
  options: WebDbOptions,
  concurrency: number,
  fetch: (request: Request) => Promise<Response>,
): Client {
  const token = options.authToken === undefined ? {} : { authToken: options.authToken };
  return createClient({ url: options.url, concurrency, intMode: "number", fetch, ...token });
}

async function run<T>(client: Client, call: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await call(client);
  } catch (error) {
    const failure = toDbError(error);
    // A write client serves one call at a time, so nothing else is cut off; other reads in flight are told to try again.
    if (UNSURE.has(failure.kind) && !client.closed) await client.reconnect();
    throw failure;
  }
}

/** A `fetch` that has read the whole body within `timeoutMs`, or fails with a TimeoutError. */
function boundedFetch(clock: Clock, timeoutMs: number, http?: Deno.HttpClient) {
  return async (request: Request): Promise<Response> => {
    const abort = new AbortController();
    const cancel = clock.after(
      timeoutMs,
      () => abort.abort(new DOMException("no answer in time", "TimeoutError")),
    );
    try {
      const response = await fetch(request, { signal: abort.signal, ...(http ? { client: http } : {}) });
      const body = await response.arrayBuffer();
      return new Response(body, { status: response.status, headers: response.headers });
    } finally {
      cancel();
    }
  };
}
