/**
 * Proves the lease against a real database whose clock is SQLite's, so time passes by writing `expires_at`, and the keeper against a
 * hand-driven clock.
 */
import assert from "node:assert/strict";
import { FakeClock, settle } from "../tests/doubles/fake_clock.ts";
import { type Db, DbError, type Rows, sql } from "./db.ts";
import { acquireLease, DB_NOW, type Lease, releaseLease, renewLease, waitForLease } from "./lease.ts";
import { LeaseKeeper, type LeaseLoss } from "./lease_keeper.ts";
import { bootstrap } from "./migrate.ts";
import { openDb } from "./open.ts";

const ask = (holder: string, ttlMs = 9_000) => ({ name: "supervisor", holder, ttlMs });

async function inMemory(run: (db: Db) => Promise<void>): Promise<void> {
  const db = await openDb({ url: ":memory:" });
  try {
    await bootstrap(db);
    await run(db);
  } finally {
    await db.close();
  }
}

const expire = (db: Db) => db.batch([sql("UPDATE leases SET expires_at = 1")]);

async function take(db: Db, holder: string): Promise<Lease> {
  const acquired = await acquireLease(db, ask(holder));
  assert(acquired.ok);
  return acquired.lease;
}

Deno.test("a lease that is held is refused with its holder and the time left", () =>
  inMemory(async (db) => {
    await take(db, "a");

    const refused = await acquireLease(db, ask("b"));

    assert(!refused.ok);
    assert.equal(refused.heldBy, "a");
    assert(refused.remainingMs > 8_000 && refused.remainingMs <= 9_000, String(refused.remainingMs));
  }));

Deno.test("each taking of a lease raises the fence, by whomever", () =>
  inMemory(async (db) => {
    const first = await take(db, "a");
    const again = await take(db, "a");
    await releaseLease(db, again);
    const other = await take(db, "b");

    assert.deepEqual([first.fence, again.fence, other.fence], [1, 2, 3]);
  }));

Deno.test("an expired lease goes to whoever asks first, and its old holder cannot renew it", () =>
  inMemory(async (db) => {
    const mine = await take(db, "a");
    await expire(db);

    const theirs = await take(db, "b");

    assert.equal(await renewLease(db, mine), false);
    assert.equal(await renewLease(db, theirs), true);
  }));

Deno.test("an expired lease that nobody took can be renewed", () =>
  inMemory(async (db) => {
    const mine = await take(db, "a");
    await expire(db);

    assert.equal(await renewLease(db, mine), true);
    const rows = await db.query(sql(`SELECT expires_at > ${DB_NOW} FROM leases`));
    assert.deepEqual(rows.rows, [[1]]);
  }));

Deno.test("giving back a lease that another one holds changes nothing", () =>
  inMemory(async (db) => {
    const mine = await take(db, "a");
    await expire(db);
    const theirs = await take(db, "b");

    await releaseLease(db, mine);

    assert.equal(await renewLease(db, theirs), true);
    assert.equal((await acquireLease(db, ask("c"))).ok, false);
  }));

Deno.test("a second supervisor waits until the lease is free", () =>
  inMemory(async (db) => {
    const clock = new FakeClock();
    const mine = await take(db, "a");
    const heard: string[] = [];

    const waiting = waitForLease(db, ask("b"), {
      clock,
      random: () => 1,
      onWaiting: (heldBy) => heard.push(heldBy),
    });
    while (clock.pending === 0) await settle();
    await releaseLease(db, mine);
    await clock.advance(3_005);
    const lease = await waiting;

    assert.deepEqual([lease.holder, lease.fence, heard], ["b", 2, ["a"]]);
    assert.equal(clock.pending, 0);
  }));

Deno.test("waiting for a lease ends when it is aborted", () =>
  inMemory(async (db) => {
    const clock = new FakeClock();
    await take(db, "a");
    const abort = new AbortController();

    const waiting = waitForLease(db, ask("b"), { clock, random: () => 1, signal: abort.signal });
    while (clock.pending === 0) await settle();
    abort.abort(new Error("shutdown"));

    await assert.rejects(waiting, { message: "shutdown" });
    assert.equal(clock.pending, 0);
  }));

/** A database that answers renewals as it is told. */
class RenewalDb implements Db {
  renewals = 0;
  next: "held" | "taken" | DbError = "held";

  batch(): Promise<Rows[]> {
    this.renewals++;
    if (this.next instanceof DbError) return Promise.reject(this.next);
    return Promise.resolve([{ columns: [], rows: [], rowsAffected: this.next === "held" ? 1 : 0 }]);
  }
  query(): Promise<Rows> {
    throw new TypeError("not asked");
  }
  queryAll(): Promise<Rows[]> {
    throw new TypeError("not asked");
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function keep() {
  const db = new RenewalDb();
  const clock = new FakeClock();
  const losses: LeaseLoss[] = [];
  const lease = { ...ask("a"), fence: 1 };
  const keeper = new LeaseKeeper(db, lease, { clock, onLost: (loss) => losses.push(loss) });
  return { db, clock, losses, keeper };
}

Deno.test("the keeper renews every third of the lease's life and moves the deadline", async () => {
  const { db, clock, losses, keeper } = keep();
  const start = clock.monotonic();

  await clock.advance(9_000);
  await keeper.stop();

  assert.deepEqual([db.renewals, losses, keeper.deadline - start], [3, [], 18_000]);
  assert.equal(clock.pending, 0);
});

Deno.test("the keeper tells once when another one took the lease", async () => {
  const { db, clock, losses } = keep();
  db.next = "taken";

  await clock.advance(20_000);

  assert.deepEqual([losses, db.renewals, clock.pending], [["taken"], 1, 0]);
});

Deno.test("the keeper bears a database that is away for less than the lease's life", async () => {
  const { db, clock, losses, keeper } = keep();
  db.next = new DbError("connection", "away");
  await clock.advance(6_000);
  db.next = "held";
  await clock.advance(6_000);
  await keeper.stop();

  assert.deepEqual(losses, []);
});

Deno.test("the keeper gives up when the database is away for the whole life of the lease", async () => {
  const { db, clock, losses } = keep();
  db.next = new DbError("timeout", "away");

  await clock.advance(9_000);

  assert.deepEqual([losses, clock.pending], [["unreachable"], 0]);
});

Deno.test("the keeper bears a full disk for however long, and does not move the deadline in that time", async () => {
  const { db, clock, losses, keeper } = keep();
  const start = clock.monotonic();
  db.next = new DbError("full", "database or disk is full");
  await clock.advance(60_000);
  const deadline = keeper.deadline - start;
  db.next = "held";
  await clock.advance(3_000);
  await keeper.stop();

  assert.deepEqual([deadline, keeper.deadline - start, losses], [9_000, 72_000, []]);
});

Deno.test("a keeper that was stopped says nothing more", async () => {
  const { db, clock, losses, keeper } = keep();
  await keeper.stop();
  db.next = "taken";

  await clock.advance(20_000);

  assert.deepEqual([losses, db.renewals], [[], 0]);
});
