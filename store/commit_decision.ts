/**
 * What the committer decides, without doing it: which waiting members form a group, which statements a batch consists of, and what an error
 * says about a batch. Pure. The fence is told from a member's guard by the constraint that fails: a fenced-off batch cannot fill
 * `commits.at`, a member's guard cannot fill `guard.ok`. SQLite names it natively and over HTTP alike, and no member writes to `commits`.
 * Proven by `store/committer_test.ts`.
 */
import type { Failure } from "../lib/result.ts";
import { type DbError, sql, type Statement } from "./db.ts";
import { DB_NOW, type Lease } from "./lease.ts";

/** What one actor's handling wants committed; all of it or nothing. */
export interface CommitMember {
  /** Names the member in logs; the committer does not interpret it. */
  readonly id: string;
  readonly statements: readonly Statement[];
}

/** Limits of one batch. */
export interface GroupLimits {
  readonly maxMembers: number;
  /** Rough size of SQL and arguments together, in bytes. A single larger member goes alone. */
  readonly maxBytes: number;
}

/** How many of the waiting members, from the front, go into the next batch. At least one when any waits. */
export function groupLength(waiting: readonly CommitMember[], limits: GroupLimits): number {
  let bytes = 0;
  let count = 0;
  for (const member of waiting) {
    bytes += member.statements.reduce((sum, statement) => sum + statementBytes(statement), 0);
    if (count > 0 && (count >= limits.maxMembers || bytes > limits.maxBytes)) break;
    count++;
  }
  return count;
}

function statementBytes(statement: Statement): number {
  return statement.args.reduce<number>((sum, arg) => {
    if (typeof arg === "string") return sum + arg.length;
    return sum + (arg instanceof Uint8Array ? arg.byteLength : 8);
  }, statement.sql.length);
}

/** How many old rows of `commits` go at once. */
const PRUNED_ROWS = 1_000;

/** A batch ready to be sent; members' results start at `offset`. */
export interface Batch {
  readonly statements: readonly Statement[];
  readonly offset: number;
}

/** Fence and commit id first, then pruning if it is due, then the members in order. */
export function compose(
  commitId: string,
  members: readonly CommitMember[],
  options: { fence: Lease | null; pruneBelow?: string | undefined },
): Batch {
  const { fence, pruneBelow } = options;
  const head = [mark(commitId, fence), ...(pruneBelow === undefined ? [] : [pruning(pruneBelow)])];
  return { statements: [...head, ...members.flatMap((member) => member.statements)], offset: head.length };
}

/** The commit row. Under a fence its time is only known while the lease is ours and alive, else NOT NULL fails. */
function mark(commitId: string, fence: Lease | null): Statement {
  if (fence === null) return sql(`INSERT INTO commits (id, at) VALUES (?, ${DB_NOW})`, commitId);
  return sql(
    `INSERT INTO commits (id, at) VALUES (?, (SELECT ${DB_NOW} FROM leases
     WHERE name = ? AND holder = ? AND fence = ? AND expires_at > ${DB_NOW}))`,
    commitId,
    fence.name,
    fence.holder,
    fence.fence,
  );
}

/** The oldest first, and not all at once: a batch must not take long because the ones before it were many. */
function pruning(below: string): Statement {
  return sql(
    "DELETE FROM commits WHERE id IN (SELECT id FROM commits WHERE id < ? ORDER BY id LIMIT ?)",
    below,
    PRUNED_ROWS,
  );
}

/** Asks whether a batch was applied: one row with `at > 0` means yes, with `at < 0` that it never will be. */
export function lookup(commitId: string): Statement {
  return sql("SELECT at FROM commits WHERE id = ?", commitId);
}

/**
 * Takes a commit id away from a batch that may still be on its way: afterwards the batch either was applied before or can never be,
 * because its first statement would now violate the primary key. The last statement's row says which.
 */
export function voiding(commitId: string): Statement[] {
  return [
    sql(`INSERT INTO commits (id, at) VALUES (?, -${DB_NOW}) ON CONFLICT (id) DO NOTHING`, commitId),
    lookup(commitId),
  ];
}

/**
 * What an error says about a batch.
 * `fenced`: the lease is not ours or has run out. `duplicate`: the batch had been applied before. `refused`: SQLite rolled it back
 * because of what it holds. `full`: rolled back for want of room on the disk. `odd`: a failure of which it is not sure that it rolled back.
 * `busy`: not begun, the lock was held. `unsure`: no answer.
 */
export type Reading = "fenced" | "duplicate" | "refused" | "full" | "odd" | "busy" | "unsure";

/** Reads an error of a batch made by `compose`. */
export function readError(error: DbError): Reading {
  if (error.constraint === "commits.at") return "fenced";
  if (error.constraint === "commits.id") return "duplicate";
  switch (error.kind) {
    case "constraint":
      return "refused";
    case "busy":
      return "busy";
    case "timeout":
    case "connection":
      return "unsure";
    case "full":
      return "full";
    case "other":
      return "odd";
    default:
      return error.kind satisfies never;
  }
}

/** The answer to the one member whose batch was rolled back. `index` is that of the failed statement within the member. */
export function refusal(member: CommitMember, error: DbError, index: number | undefined): Failure {
  const statement = index === undefined ? undefined : member.statements[index];
  const where = statement?.label ?? (index === undefined ? "a statement" : `statement ${index}`);
  if (error.constraint === "guard.ok") {
    return { code: "guard_failed", message: `A condition no longer holds: ${where}`, retry: false };
  }
  if (error.kind === "constraint") {
    return {
      code: "conflict",
      message: `Constraint ${error.constraint ?? "unknown"} refuses ${where}`,
      retry: false,
    };
  }
  if (error.kind === "full") {
    return { code: "unavailable", message: "The database or its disk is full; free some space", retry: true };
  }
  return { code: "bad_request", message: `The database refuses ${where}: ${error.message}`, retry: false };
}
