/**
 * The lease: one row with a fencing number that says which process may write. Time is the database's clock, never ours. Promises: a lease
 * is taken only when it is free, expired or the holder's own, and each taking raises the fence; renewing succeeds while nobody took it.
 * Losing it is told by `lease_keeper.ts`. Proven by `store/lease_test.ts`.
 */
import { backoffMs } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import { sleep } from "../lib/clock.ts";
import { type Db, DbError, objects, sql, type Statement } from "./db.ts";

/** The database's clock, milliseconds since the Unix epoch, as an SQL expression. */
export const DB_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The name of the lease that every commit of the supervisor is fenced by. */
export const SUPERVISOR_LEASE = "supervisor";

/** How long a lease lives without being renewed, in milliseconds. */
export const LEASE_TTL_MS = 10_000;

/** Which lease, for whom, for how long. */
export interface LeaseRequest {
  readonly name: string;
  /** Unique to the process, for example a UUID: two processes with one holder would share the lease. */
  readonly holder: string;
  /** Milliseconds. */
  readonly ttlMs: number;
}

/** A lease that was held when it was made; `fence` rises with each taking. */
export interface Lease extends LeaseRequest {
  readonly fence: number;
}

/** The lease, or for how much longer another one holds it (milliseconds by the database's clock). */
export type Acquired =
  | { readonly ok: true; readonly lease: Lease }
  | { readonly ok: false; readonly heldBy: string; readonly remainingMs: number };

/** Takes the lease when it is free, expired or already this holder's. Rejects with `DbError`. */
export async function acquireLease(db: Db, request: LeaseRequest): Promise<Acquired> {
  const [taken, seen] = await db.batch([
    sql(
      `INSERT INTO leases (name, holder, fence, expires_at) VALUES (?, ?, 1, ${DB_NOW} + ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, expires_at = excluded.expires_at
       WHERE leases.expires_at <= ${DB_NOW} OR leases.holder = excluded.holder
       RETURNING fence`,
      request.name,
      request.holder,
      request.ttlMs,
    ),
    sql(`SELECT holder, expires_at - ${DB_NOW} AS remaining FROM leases WHERE name = ?`, request.name),
  ]);
  const fence = taken?.rows[0]?.[0];
  if (typeof fence === "number") {
    const { name, holder, ttlMs } = request;
    return { ok: true, lease: { name, holder, ttlMs, fence } };
  }
  const row = seen && objects<{ holder: string; remaining: number }>(seen)[0];
  return { ok: false, heldBy: row?.holder ?? "unknown", remainingMs: Math.max(0, row?.remaining ?? 0) };
}

/** The statement of a renewal; it affects one row exactly while nobody else took the lease. */
export function renewal(lease: Lease): Statement {
  return sql(
    `UPDATE leases SET expires_at = ${DB_NOW} + ? WHERE name = ? AND holder = ? AND fence = ?`,
    lease.ttlMs,
    lease.name,
    lease.holder,
    lease.fence,
  );
}

/**
 * Renews the lease; false when another one holds it. An expired lease that nobody took is still ours: the fence proves that no other
 * holder wrote in between, so a process that was stopped for a while may carry on.
 */
export async function renewLease(db: Db, lease: Lease): Promise<boolean> {
  const [renewed] = await db.batch([renewal(lease)]);
  return renewed?.rowsAffected === 1;
}

/** Gives the lease back, so that the next holder need not wait. The row stays: its fence must never start again. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  await db.batch([
    sql(
      "UPDATE leases SET expires_at = 0 WHERE name = ? AND holder = ? AND fence = ?",
      lease.name,
      lease.holder,
      lease.fence,
    ),
  ]);
}

/** What `waitForLease` needs besides the request. */
export interface WaitOptions {
  readonly clock: Clock;
  /** A number in [0, 1), such as `Math.random`. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Told before each wait, so that the operator learns what is waited for. */
  readonly onWaiting?: ((heldBy: string, remainingMs: number) => void) | undefined;
}

/**
 * Waits until the lease is ours: a second supervisor's way in. Looks again when the holder's time is up by the database's clock, and after
 * a busy or broken connection with backoff. Rejects with the signal's reason, or with a `DbError` that waiting does not cure.
 */
export async function waitForLease(db: Db, request: LeaseRequest, options: WaitOptions): Promise<Lease> {
  for (let failures = 0;;) {
    options.signal?.throwIfAborted();
    let waitMs: number;
    try {
      const acquired = await acquireLease(db, request);
      if (acquired.ok) return acquired.lease;
      failures = 0;
      options.onWaiting?.(acquired.heldBy, acquired.remainingMs);
      // Looking at least every third of the time to live notices a lease that was given back early.
      waitMs = Math.min(acquired.remainingMs, request.ttlMs / 3) + 5;
    } catch (error) {
      if (!isPassing(error)) throw error;
      waitMs = 5 + backoffMs(failures++, { baseMs: 100, capMs: request.ttlMs / 3, random: options.random });
    }
    await sleep(options.clock, waitMs, options.signal);
  }
}

/** True when there is no room on the database's disk: nobody can take a lease then, and whoever holds one can only wait. */
export function isFull(error: unknown): boolean {
  return error instanceof DbError && error.kind === "full";
}

/** True for a failure that the same call may not meet again. */
export function isPassing(error: unknown): boolean {
  return error instanceof DbError &&
    (error.kind === "busy" || error.kind === "timeout" || error.kind === "connection");
}
