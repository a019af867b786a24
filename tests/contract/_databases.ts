/**
 * Opens each implementation of `Db` and `Store` over a fresh, bootstrapped file in a temporary folder, for the contract suites.
 */
import type { Db } from "../../store/db.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { openWebDb } from "../../store/web_db.ts";
import { openStore } from "../../store/worker_db.ts";
import type { Store } from "../../store/store.ts";
import { type HranaServer, startHranaServer } from "../doubles/hrana_server.ts";

/** A database in a folder of its own. */
export interface Opened<T extends Db> {
  readonly db: T;
  /** The SQLite file under it. */
  readonly path: string;
  close(): Promise<void>;
}

/** A database behind the test server. */
export interface OnServer<T extends Db> extends Opened<T> {
  readonly server: HranaServer;
}

const TOKEN = "let-me-in";

/** The native client on a file. */
export function openNative(timeoutMs = 2_000): Promise<Opened<Db>> {
  return inFolder(async (path) => ({ db: await openDb({ url: `file:${path}`, timeoutMs }) }));
}

/** The web client on the test server. */
export function openWeb(timeoutMs = 2_000): Promise<OnServer<Db>> {
  return onServer((url) => openWebDb({ url, authToken: TOKEN, timeoutMs }));
}

/** The store Worker on the test server, with the right to reach that one host. */
export function openRemoteWorkerStore(): Promise<OnServer<Store>> {
  return onServer((url) => openStore({ url, authToken: TOKEN }));
}

/** The store Worker on a file; `restricted: false` as on Deno Deploy, where a Worker's rights cannot be set. */
export function openWorkerStore(timeoutMs = 2_000, restricted = true): Promise<Opened<Store>> {
  return inFolder(async (path) => ({ db: await openStore({ url: `file:${path}`, timeoutMs, restricted }) }));
}

async function onServer<T extends Db>(open: (url: string) => Promise<T>): Promise<OnServer<T>> {
  const folder = await Deno.makeTempDir({ prefix: "callboard-db-" });
  const path = `${folder}/test.db`;
  const server = await startHranaServer(path, TOKEN);
  const db = await open(server.url);
  await bootstrap(db);
  return {
    db,
    path,
    server,
    async close() {
      await db.close();
      await server.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function inFolder<T extends Db>(open: (path: string) => Promise<{ db: T }>): Promise<Opened<T>> {
  const folder = await Deno.makeTempDir({ prefix: "callboard-db-" });
  const path = `${folder}/test.db`;
  const { db } = await open(path);
  await bootstrap(db);
  return {
    db,
    path,
    async close() {
      await db.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
