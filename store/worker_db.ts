/**
 * The supervisor's store: the same promises as `directStore`, kept by a Worker, so that no SQL ever runs on the supervisor's own loop. Calls
 * are answered in any order, commits in the order they were made. When the Worker dies, every open call rejects and `onLost("died")` is
 * told; what those commits did is then known only to the database. Proven by `tests/contract/store_suite.ts`.
 */
import { CommitFunnel } from "./commit_funnel.ts";
import type { CommitMember, CommitResult } from "./committer.ts";
import { DbError, type Rows, type Statement } from "./db.ts";
import type { Lease } from "./lease.ts";
import { isLocal } from "./open.ts";
import type { Store, StoreLoss } from "./store.ts";
import {
  fromWire,
  type FromWorker,
  type StoreAnswer,
  type StoreCall,
  type ToWorker,
  type WorkerOptions,
} from "./worker_protocol.ts";

/** How to open the supervisor's store. */
export interface StoreOptions extends WorkerOptions {
  /**
   * Give the Worker only the rights it needs. Default true. Pass false where the Worker option may not be used, such as on Deno Deploy
   * (`DENO_DEPLOY` is set): there it would end the process.
   */
  readonly restricted?: boolean | undefined;
  /** The Worker's module. Default `store_worker.ts`; tests pass one that dies. */
  readonly entry?: URL | undefined;
}

/** Starts the Worker and opens the database in it. Rejects with `DbError`; the Worker is then gone. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { restricted = true, entry = new URL("./store_worker.ts", import.meta.url), ...workerOptions } =
    options;
  const store = new WorkerStore(startWorker(entry, restricted ? permissionsFor(options.url) : undefined));
  try {
    await store.open(workerOptions);
  } catch (error) {
    store.terminate();
    throw error;
  }
  return store;
}

function startWorker(entry: URL, permissions: Deno.PermissionOptionsObject | undefined): Worker {
  const options = { type: "module", name: "store" } as const;
  return new Worker(entry, permissions === undefined ? options : { ...options, deno: { permissions } });
}

/** Native code needs `ffi` (and with it may do anything); a remote database needs one host. */
function permissionsFor(url: string): Deno.PermissionOptionsObject {
  if (isLocal(url)) {
    return { env: ["LIBSQL_JS_DEV"], sys: ["hostname", "cpus", "networkInterfaces"], ffi: "inherit" };
  }
  return { net: [hostOf(url)] };
}

function hostOf(url: string): string {
  try {
    return new URL(url.replace(/^libsql:/, "https:")).host;
  } catch {
    // The URL may hold a token, so it is not quoted.
    throw new DbError("other", "The database URL is not valid; use file:…, libsql://… or https://…");
  }
}

interface OpenCall {
  readonly resolve: (answer: StoreAnswer) => void;
  readonly reject: (error: DbError) => void;
}

class WorkerStore implements Store {
  onLost: ((loss: StoreLoss) => void) | undefined;
  readonly #worker: Worker;
  readonly #ready: Promise<void>;
  // The Worker answers commits with one result each.
  readonly #funnel = new CommitFunnel(async (members) =>
    await this.#call({ type: "commit", members }) as readonly CommitResult[]
  );
  readonly #calls = new Map<number, OpenCall>();
  #nextId = 1;
  #ended = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#ready = promise;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(event.data, resolve);
    worker.onmessageerror = () => this.#die("The store Worker sent what cannot be read");
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new DbError("other", `The store Worker failed: ${event.message}`));
      this.#die(`The store Worker failed: ${event.message}`);
    };
  }

  async open(options: WorkerOptions): Promise<void> {
    await this.#ready;
    await this.#call({ type: "open", options });
  }

  async query(statement: Statement): Promise<Rows> {
    // The Worker answers a query with one `Rows`.
    return await this.#call({ type: "query", statement }) as Rows;
  }

  async queryAll(statements: readonly Statement[]): Promise<Rows[]> {
    // The Worker answers with one `Rows` per statement.
    return await this.#call({ type: "queryAll", statements }) as Rows[];
  }

  async batch(statements: readonly Statement[]): Promise<Rows[]> {
    // The Worker answers with one `Rows` per statement.
    return await this.#call({ type: "batch", statements }) as Rows[];
  }

  commit(member: CommitMember): Promise<CommitResult> {
    return this.#funnel.commit(member);
  }

  setFence(fence: Lease | null): void {
    if (!this.#ended) this.#worker.postMessage({ type: "fence", fence } satisfies ToWorker);
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.#call({ type: "close" });
    } finally {
      this.terminate();
    }
  }

  /** Ends the Worker without telling `onLost`; open calls reject. */
  terminate(): void {
    this.#ended = true;
    this.#worker.terminate();
    this.#rejectAll("The store is closed");
  }

  #call(call: StoreCall): Promise<StoreAnswer> {
    if (this.#ended) return Promise.reject(new DbError("connection", "The store is closed"));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      // What cannot be cloned throws here, before it is waited for.
      this.#worker.postMessage({ type: "call", id, call } satisfies ToWorker);
      this.#calls.set(id, { resolve, reject });
    });
  }

  #receive(message: FromWorker, ready: () => void): void {
    switch (message.type) {
      case "ready":
        return ready();
      case "answer":
        return this.#take(message.id)?.resolve(message.answer);
      case "failure":
        return this.#take(message.id)?.reject(fromWire(message.failure));
      case "lost":
        return this.onLost?.(message.loss);
      default:
        return message satisfies never;
    }
  }

  #take(id: number): OpenCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #die(message: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#worker.terminate();
    this.#rejectAll(message);
    this.onLost?.("died");
  }

  #rejectAll(message: string): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(new DbError("connection", message));
  }
}
