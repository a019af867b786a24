/**
 * Opens a database by its URL: `file:` and `:memory:` natively, everything else over HTTP. Loads only the client that it needs, so a
 * process with a remote database needs no right to run native code. The edge on Deno Deploy imports `web_db.ts` itself.
 */
import type { Clock } from "../lib/clock.ts";
import type { Db } from "./db.ts";

/** How to reach a database. */
export interface OpenOptions {
  /** `file:…`, `:memory:`, `libsql://…`, `https://…` or `http://…`. */
  readonly url: string;
  readonly authToken?: string | undefined;
  /** Longest wait for a lock (file) or an answer (remote), in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Times remote calls; a native call is timed by SQLite. */
  readonly clock?: Clock | undefined;
}

/** True when the URL names a file of this machine (or memory) and so needs the native client. */
export function isLocal(url: string): boolean {
  return url === ":memory:" || url.startsWith("file:");
}

/** Opens the database. Rejects with `DbError` when it cannot be reached or opened. */
export async function openDb(options: OpenOptions): Promise<Db> {
  if (isLocal(options.url)) {
    const { openNativeDb } = await import("./native_db.ts");
    return openNativeDb({ url: options.url, timeoutMs: options.timeoutMs });
  }
  const { openWebDb } = await import("./web_db.ts");
  return openWebDb(options);
}
