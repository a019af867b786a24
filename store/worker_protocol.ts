/**
 * What the supervisor's isolate and the store Worker say to each other. Both sides are built together, so there is no version and no
 * parsing; structured clone carries `bigint` and `Uint8Array` as they are. Errors travel as data, because a cloned `DbError` loses its
 * fields.
 */
import type { CommitMember, CommitResult } from "./committer.ts";
import { DbError, type DbErrorKind, type Rows, type Statement } from "./db.ts";
import type { Lease } from "./lease.ts";
import type { StoreLoss } from "./store.ts";

/** Options of the Worker's database; what structured clone can carry of `OpenOptions`. */
export interface WorkerOptions {
  readonly url: string;
  readonly authToken?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly giveUpMs?: number | undefined;
}

/** A call that is answered under its `id`. */
export type StoreCall =
  | { readonly type: "open"; readonly options: WorkerOptions }
  | { readonly type: "query"; readonly statement: Statement }
  | { readonly type: "queryAll" | "batch"; readonly statements: readonly Statement[] }
  | { readonly type: "commit"; readonly members: readonly CommitMember[] }
  | { readonly type: "close" };

/** To the Worker. */
export type ToWorker =
  | { readonly type: "call"; readonly id: number; readonly call: StoreCall }
  | { readonly type: "fence"; readonly fence: Lease | null };

/** What a call gave back. */
export type StoreAnswer = Rows | readonly Rows[] | readonly CommitResult[] | null;

/** From the Worker; `ready` comes first and once. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "answer"; readonly id: number; readonly answer: StoreAnswer }
  | { readonly type: "failure"; readonly id: number; readonly failure: WireError }
  | { readonly type: "lost"; readonly loss: StoreLoss };

/** A `DbError` as data. */
export interface WireError {
  readonly kind: DbErrorKind;
  readonly message: string;
  readonly constraint: string | undefined;
  readonly statement: number | undefined;
}

/** For the way out of the Worker. The cause stays behind: the Worker's log has it. */
export function toWire(error: DbError): WireError {
  return {
    kind: error.kind,
    message: error.message,
    constraint: error.constraint,
    statement: error.statement,
  };
}

/** For the caller. */
export function fromWire(error: WireError): DbError {
  return new DbError(error.kind, error.message, error.constraint, { statement: error.statement });
}
