/// <reference lib="deno.worker" />
/**
 * Entry of the store Worker: owns the one database connection of the supervisor's process and the committer, so that a slow query, a lock
 * or an fsync never stops the supervisor's loop. Answers every call exactly once, until `close`. It knows no table but those of the commit
 * and the lease. Proven by `tests/contract/store_suite.ts`.
 */
self.onmessage = (event: MessageEvent<ToWorker>) => receive(event.data);

import type { CommitMember, CommitResult } from "./committer.ts";
import { DbError } from "./db.ts";
import { toDbError } from "./db_errors.ts";
import { openDb } from "./open.ts";
import { directStore, type Store } from "./store.ts";
import {
  type FromWorker,
  type StoreAnswer,
  type StoreCall,
  toWire,
  type ToWorker,
  type WorkerOptions,
} from "./worker_protocol.ts";

let store: Store | undefined;

function receive(message: ToWorker): void {
  if (message.type === "fence") return store?.setFence(message.fence);
  const { id, call } = message;
  perform(call).then(
    (answer) => say({ type: "answer", id, answer }),
    (error) => say({ type: "failure", id, failure: toWire(toDbError(error)) }),
  );
}

function perform(call: StoreCall): Promise<StoreAnswer> {
  if (call.type === "open") return open(call.options);
  if (store === undefined) return Promise.reject(new DbError("connection", "The store is not open"));
  switch (call.type) {
    case "query":
      return store.query(call.statement);
    case "queryAll":
      return store.queryAll(call.statements);
    case "batch":
      return store.batch(call.statements);
    case "commit":
      return commitAll(store, call.members);
    case "close":
      return close(store);
    default:
      return call satisfies never;
  }
}

async function open(options: WorkerOptions): Promise<null> {
  store = directStore(await openDb(options), { giveUpMs: options.giveUpMs });
  store.onLost = (loss) => say({ type: "lost", loss });
  return null;
}

/** Queued in one turn, so that they share a batch. */
function commitAll(open: Store, members: readonly CommitMember[]): Promise<CommitResult[]> {
  return Promise.all(members.map((member) => open.commit(member)));
}

async function close(open: Store): Promise<null> {
  store = undefined;
  await open.close();
  return null;
}

function say(message: FromWorker): void {
  self.postMessage(message);
}

say({ type: "ready" });
