/**
 * Group commit: everything that waits goes into one batch, in order, behind the fence. Promises that every member is answered with what
 * really happened: a batch whose answer was lost is looked up by its commit id, and sent again only under the same id, so it is applied at
 * most once. Only the guilty member of a failed group fails. A full disk is no loss, however long it stays full: commits are refused, to be
 * tried again, and what is not known yet is waited for. It does not know what the statements mean. Proven by
 * `store/committer_test.ts` and `tests/contract/store_suite.ts`.
 */
import { backoffMs } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { idFloor } from "../lib/ids.ts";
import { sleep } from "../lib/clock.ts";
import type { Failure } from "../lib/result.ts";
import {
  type Batch,
  type CommitMember,
  compose,
  groupLength,
  type GroupLimits,
  lookup,
  readError,
  refusal,
  voiding,
} from "./commit_decision.ts";
import { type Db, type DbError, type Rows, type Statement } from "./db.ts";
import { toDbError } from "./db_errors.ts";
import { isFull, isPassing, type Lease, renewLease } from "./lease.ts";

export type { CommitMember } from "./commit_decision.ts";

/**
 * `rows`: one entry per statement of the member. `recovered`: the answer was lost and the commit was found by its id; the entries are
 * then empty, so read again what a RETURNING clause would have told.
 */
export type CommitResult =
  | { readonly ok: true; readonly rows: readonly Rows[]; readonly recovered: boolean }
  | { readonly ok: false; readonly error: Failure };

/** What makes every further commit impossible: another holder's lease, or a commit whose outcome nobody can tell. */
export type CommitLoss = "fenced" | "unknown_outcome";

/** What the committer needs. */
export interface CommitterOptions {
  readonly clock: Clock;
  /** A number in [0, 1), such as `Math.random`. */
  readonly random: () => number;
  /** A fresh, unguessable commit id that is above all earlier ones: a UUIDv7. */
  readonly newCommitId: () => string;
  /** Called at most once per fence. The process must stop what it does in the world and exit. */
  readonly onLost: (loss: CommitLoss) => void;
  /** How long one batch may be tried, in milliseconds. Default 10,000: no longer than the lease lives. */
  readonly giveUpMs?: number | undefined;
  /** Default 64 members, 1,000,000 bytes. */
  readonly limits?: GroupLimits | undefined;
}

const DEFAULT_LIMITS: GroupLimits = { maxMembers: 64, maxBytes: 1_000_000 };
/** How long a batch's row is kept, in milliseconds: far longer than anybody may still ask for it, and than clocks of an edge are behind. */
const KEEP_COMMITS_MS = 3_600_000;
/** Each so many batches, old rows go: more of them than have come since. */
const PRUNE_EVERY = 500;
const NO_ROWS: Rows = { columns: [], rows: [], rowsAffected: 0 };

interface Waiting {
  readonly member: CommitMember;
  readonly answer: (result: CommitResult) => void;
}

type Outcome =
  | { readonly type: "committed"; readonly rows: readonly Rows[] | null; readonly offset: number }
  | { readonly type: "refused"; readonly error: DbError; readonly offset: number }
  | { readonly type: "fenced" | "unavailable" | "unknown" };

/** Serialises commits into one database. */
export class Committer {
  readonly #db: Db;
  readonly #options: CommitterOptions;
  readonly #giveUpMs: number;
  readonly #limits: GroupLimits;
  readonly #closing = new AbortController();
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #fence: Lease | null = null;
  #loss: CommitLoss | undefined;
  #batches = 0;

  constructor(db: Db, options: CommitterOptions) {
    this.#db = db;
    this.#options = options;
    this.#giveUpMs = options.giveUpMs ?? 10_000;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
  }

  /** From the next batch on, commits require this lease; null requires none (first start, tools). Clears an earlier loss. */
  setFence(fence: Lease | null): void {
    this.#fence = fence;
    this.#loss = undefined;
  }

  /** Commits the member with whatever else waits. Never rejects. */
  commit(member: CommitMember): Promise<CommitResult> {
    if (this.#closing.signal.aborted) return Promise.resolve(failed("unavailable", "The store is closed"));
    if (this.#loss) return Promise.resolve(LOST);
    return new Promise((answer) => {
      this.#waiting.push({ member, answer });
      this.#draining ??= this.#drain();
    });
  }

  /** Lets the batch under way find its outcome, refuses what waits behind it, and ends. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#refuseWaiting(failed("unavailable", "The store is closing"));
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // One turn later, so that members committed in the same turn share the first batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const length = groupLength(this.#waiting.map((waiting) => waiting.member), this.#limits);
      await this.#commitGroup(this.#waiting.splice(0, length));
    }
    this.#draining = undefined;
  }

  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    if (this.#loss) return answerAll(group, LOST);
    const outcome = await this.#attempt(group.map((waiting) => waiting.member));
    switch (outcome.type) {
      case "committed":
        return answerRows(group, outcome.rows, outcome.offset);
      case "refused":
        return await this.#refuse(group, outcome.error, outcome.offset);
      case "unavailable":
        return answerAll(group, failed("unavailable", "The database could not be written in time", true));
      case "fenced":
        answerAll(group, LOST);
        return this.#lose("fenced");
      case "unknown":
        answerAll(
          group,
          failed("unknown_outcome", "The database cannot be asked whether this commit was applied"),
        );
        return this.#lose("unknown_outcome");
      default:
        return outcome satisfies never;
    }
  }

  /** A group's refusal says nothing about its other members, so each is tried alone; one member's is its answer. */
  async #refuse(group: readonly Waiting[], error: DbError, offset: number): Promise<void> {
    const [only, ...others] = group;
    if (only === undefined) return;
    if (others.length > 0) {
      for (const waiting of group) await this.#commitGroup([waiting]);
      return;
    }
    const index = error.statement === undefined || error.statement < offset
      ? undefined
      : error.statement - offset;
    only.answer({ ok: false, error: refusal(only.member, error, index) });
  }

  /** Sends one batch, under one commit id, until its outcome is known or the time is up. */
  async #attempt(members: readonly CommitMember[]): Promise<Outcome> {
    const id = this.#options.newCommitId();
    const deadline = this.#options.clock.monotonic() + this.#giveUpMs;
    const batch = this.#compose(id, members);
    let unsure = false;
    for (let attempt = 0;; attempt++) {
      let error: DbError;
      try {
        return { type: "committed", rows: await this.#db.batch(batch.statements), offset: batch.offset };
      } catch (thrown) {
        error = toDbError(thrown);
      }
      const reading = readError(error);
      if (reading === "refused" && !unsure) return { type: "refused", error, offset: batch.offset };
      if (reading === "unsure" || reading === "odd") unsure = true;

      const ends = reading === "refused" || reading === "odd" || reading === "full";
      // Nothing can be voided on a full disk; a batch that was answered, and was never out of sight before, is over.
      const applied = await this.#find(id, deadline, ends && (reading !== "full" || unsure));
      if (applied === undefined) return { type: unsure ? "unknown" : "unavailable" };
      if (applied) return { type: "committed", rows: null, offset: batch.offset };
      if (ends) return { type: "refused", error, offset: batch.offset };
      if (reading === "fenced" && !await this.#stillOurs()) return { type: "fenced" };
      if (!await this.#pause(attempt, deadline)) return await this.#giveUp(id, unsure);
    }
  }

  #compose(id: string, members: readonly CommitMember[]): Batch {
    const prunes = this.#batches++ % PRUNE_EVERY === 0;
    return compose(id, members, {
      fence: this.#fence,
      pruneBelow: prunes ? idFloor(this.#options.clock.now() - KEEP_COMMITS_MS) : undefined,
    });
  }

  /** Whether the batch was applied; with `voids`, also makes sure that it never will be. Undefined when nobody can tell in time. */
  async #find(id: string, deadline: number, voids: boolean): Promise<boolean | undefined> {
    for (let attempt = 0;; attempt++) {
      try {
        const rows = voids ? (await this.#db.batch(voiding(id))).at(-1) : await this.#db.query(lookup(id));
        const at = rows?.rows[0]?.[0];
        return typeof at === "number" && at > 0;
      } catch (error) {
        // There will be an answer when there is room, and until then nothing else can be done either.
        const limit = toDbError(error).kind === "full" ? Infinity : deadline;
        if (!await this.#pause(attempt, limit)) return undefined;
      }
    }
  }

  /** A last try to know: only a batch that may still be on its way needs to be voided. */
  async #giveUp(id: string, unsure: boolean): Promise<Outcome> {
    if (!unsure) return { type: "unavailable" };
    const applied = await this.#find(id, this.#options.clock.monotonic(), true);
    if (applied === undefined) return { type: "unknown" };
    return applied ? { type: "committed", rows: null, offset: 0 } : { type: "unavailable" };
  }

  /** A lease that ran out while the process was stopped, and that nobody took, is renewed; the fence did not change. */
  async #stillOurs(): Promise<boolean> {
    if (this.#fence === null) return false;
    try {
      return await renewLease(this.#db, this.#fence);
    } catch (error) {
      // Not known yet: the batch is tried again and asks the fence anew.
      return isPassing(error) || isFull(error);
    }
  }

  /** Waits before the next try; false when the time is up or the store closes. */
  async #pause(attempt: number, deadline: number): Promise<boolean> {
    const { clock, random } = this.#options;
    if (this.#closing.signal.aborted || clock.monotonic() >= deadline) return false;
    try {
      await sleep(clock, backoffMs(attempt, { baseMs: 20, capMs: 1_000, random }), this.#closing.signal);
      return true;
    } catch {
      return false;
    }
  }

  #lose(loss: CommitLoss): void {
    if (this.#loss) return;
    this.#loss = loss;
    this.#refuseWaiting(LOST);
    this.#options.onLost(loss);
  }

  #refuseWaiting(result: CommitResult): void {
    answerAll(this.#waiting.splice(0), result);
  }
}

const LOST: CommitResult = failed("fenced", "This supervisor may not write any more and must exit");

function failed(code: Failure["code"], message: string, retry = false): CommitResult {
  return { ok: false, error: { code, message, retry } };
}

function answerAll(group: readonly Waiting[], result: CommitResult): void {
  for (const waiting of group) waiting.answer(result);
}

/** Gives each member its own slice of the batch's results; of a recovered batch nothing but its success is known. */
function answerRows(group: readonly Waiting[], rows: readonly Rows[] | null, offset: number): void {
  let from = offset;
  for (const { member, answer } of group) {
    const until = from + member.statements.length;
    const own = rows === null ? member.statements.map((_: Statement) => NO_ROWS) : rows.slice(from, until);
    answer({ ok: true, rows: own, recovered: rows === null });
    from = until;
  }
}
