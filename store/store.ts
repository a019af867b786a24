/**
 * The supervisor's view of the database: reads, raw batches, and fenced group commits. `directStore` joins the parts in one isolate, for
 * tests, the simulation and small tools; the supervisor uses `openStore` of `worker_db.ts`, which has the same promises from a Worker.
 * Proven by `tests/contract/store_suite.ts`.
 */
import { type Clock, systemClock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { type CommitLoss, type CommitMember, type CommitResult, Committer } from "./committer.ts";
import type { Db } from "./db.ts";
import type { Lease } from "./lease.ts";

/** Why nothing can be committed any more: the committer's reasons, or the end of the store Worker. */
export type StoreLoss = CommitLoss | "died";

/** A database with group commit. `batch` is not fenced: it is for the lease and migrations; all else of the supervisor is `commit`. */
export interface Store extends Db {
  /** Commits the member, or says why not. Rejects with `DbError` only when the store Worker is gone. */
  commit(member: CommitMember): Promise<CommitResult>;
  /** From the next commit on, commits require this lease; null requires none. */
  setFence(fence: Lease | null): void;
  /** Set by the supervisor; called at most once per fence, after which the process must exit. */
  onLost: ((loss: StoreLoss) => void) | undefined;
}

/** What a store in the same isolate takes from outside. */
export interface DirectStoreOptions {
  readonly clock?: Clock | undefined;
  /** A number in [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Default `newId`. */
  readonly newCommitId?: (() => string) | undefined;
  /** How long one batch may be tried, in milliseconds. Default 10,000. */
  readonly giveUpMs?: number | undefined;
}

/** A store over an open database, which `close()` closes too. */
export function directStore(db: Db, options: DirectStoreOptions = {}): Store {
  const committer = new Committer(db, {
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    newCommitId: options.newCommitId ?? newId,
    giveUpMs: options.giveUpMs,
    onLost: (loss) => store.onLost?.(loss),
  });
  const store: Store = {
    onLost: undefined,
    query: (statement) => db.query(statement),
    queryAll: (statements) => db.queryAll(statements),
    batch: (statements) => db.batch(statements),
    commit: (member) => committer.commit(member),
    setFence: (fence) => committer.setFence(fence),
    async close() {
      await committer.close();
      await db.close();
    },
  };
  return store;
}
