/**
 * Proves the committer over a database in memory with chosen faults and a hand-driven clock: nothing twice, nothing lost, nothing guessed.
 */
import assert from "node:assert/strict";
import { idFloor } from "../lib/ids.ts";
import { FakeClock, settle } from "../tests/doubles/fake_clock.ts";
import { FaultyDb } from "../tests/doubles/faulty_db.ts";
import { type CommitMember, compose, groupLength, readError, refusal } from "./commit_decision.ts";
import { type CommitLoss, type CommitResult, Committer } from "./committer.ts";
import { DbError, guard, labelled, sql } from "./db.ts";
import { acquireLease, type Lease } from "./lease.ts";
import { bootstrap } from "./migrate.ts";
import { openDb } from "./open.ts";

const write = (key: string): CommitMember => ({
  id: key,
  statements: [sql("INSERT INTO settings (key, value, at) VALUES (?, 'x', 0)", key)],
});
const codeOf = (result: CommitResult) =>
  result.ok ? (result.recovered ? "recovered" : "ok") : result.error.code;

interface Bench {
  readonly db: FaultyDb;
  readonly clock: FakeClock;
  readonly committer: Committer;
  readonly losses: CommitLoss[];
  keys(): Promise<unknown[]>;
  /** Drives the clock until the promise settles. */
  finish<T>(promise: Promise<T>): Promise<T>;
}

async function bench(run: (bench: Bench) => Promise<void>): Promise<void> {
  const real = await openDb({ url: ":memory:" });
  await bootstrap(real);
  const db = new FaultyDb(real);
  const clock = new FakeClock();
  const losses: CommitLoss[] = [];
  let ids = 0;
  const committer = new Committer(db, {
    clock,
    random: () => 1,
    newCommitId: () => `commit-${++ids}`,
    onLost: (loss) => losses.push(loss),
  });
  const finish = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const mark = () => void (settled = true);
    promise.then(mark, mark);
    for (let step = 0; !settled && step < 10_000; step++) await clock.advance(20);
    return await promise;
  };
  try {
    await run({
      db,
      clock,
      committer,
      losses,
      finish,
      keys: async () =>
        (await real.query(sql("SELECT key FROM settings WHERE key LIKE 't/%' ORDER BY rowid"))).rows.map((
          row,
        ) => row[0]),
    });
  } finally {
    db.away = false;
    await committer.close();
    await real.close();
  }
}

async function take(db: FaultyDb, holder = "a"): Promise<Lease> {
  const acquired = await acquireLease(db, { name: "supervisor", holder, ttlMs: 10_000 });
  assert(acquired.ok);
  return acquired.lease;
}

Deno.test("members that wait form one batch, and later ones the next", () =>
  bench(async ({ db, committer }) => {
    const first = [committer.commit(write("t/1")), committer.commit(write("t/2"))];
    await Promise.all(first);
    await committer.commit(write("t/3"));

    assert.equal(db.batches.length, 2);
  }));

Deno.test("a lost answer is found by its id and nothing is sent again", () =>
  bench(async ({ db, committer, finish, keys }) => {
    db.batchFaults.push("lose_answer");

    const result = await finish(committer.commit(write("t/1")));

    assert.deepEqual([codeOf(result), await keys(), db.batches.length], ["recovered", ["t/1"], 1]);
  }));

Deno.test("a lost answer is found also when the first questions for it are lost", () =>
  bench(async ({ db, committer, finish, keys }) => {
    db.batchFaults.push("lose_answer");
    db.queryFaults.push("lose_request", "busy", "lose_answer");

    const result = await finish(committer.commit(write("t/1")));

    assert.deepEqual([codeOf(result), await keys()], ["recovered", ["t/1"]]);
  }));

Deno.test("a batch that arrives after it was sent again is applied once", () =>
  bench(async ({ db, committer, finish, keys }) => {
    db.batchFaults.push("late");

    const result = await finish(committer.commit(write("t/1")));
    const arrived = await db.arrive();

    assert.deepEqual([codeOf(result), arrived, await keys()], ["ok", [false], ["t/1"]]);
  }));

Deno.test("a batch that was answered as refused cannot arrive later", () =>
  bench(async ({ db, committer, finish, keys }) => {
    const refused = new DbError("constraint", "no", "guard.ok");
    db.batchFaults.push("late", refused, refused);

    const result = await finish(committer.commit(write("t/1")));
    const arrived = await db.arrive();

    assert.deepEqual([codeOf(result), arrived, await keys()], ["guard_failed", [false], []]);
  }));

Deno.test("a failure of an unknown kind is looked into before it is reported", () =>
  bench(async ({ db, committer, finish, keys }) => {
    db.batchFaults.push(new DbError("other", "disk I/O error"));

    const result = await finish(committer.commit(write("t/1")));

    assert.deepEqual([codeOf(result), await keys()], ["bad_request", []]);
  }));

Deno.test("a lock that outlives the time limit is reported as unavailable, and nothing is lost or kept", () =>
  bench(async ({ db, committer, finish, keys, losses }) => {
    db.batchFaults.push(...Array.from({ length: 1_000 }, () => "busy" as const));

    const result = await finish(committer.commit(write("t/1")));
    db.batchFaults.length = 0;
    const next = await finish(committer.commit(write("t/2")));

    assert.deepEqual([codeOf(result), codeOf(next), await keys(), losses], [
      "unavailable",
      "ok",
      ["t/2"],
      [],
    ]);
  }));

Deno.test("a full disk refuses commits at once, to be tried again, and is no loss however long it lasts", () =>
  bench(async ({ db, clock, committer, finish, keys, losses }) => {
    const results: CommitResult[] = [];
    db.full = true;
    for (let second = 0; second < 60; second++) {
      results.push(await committer.commit(write("t/1")));
      await clock.advance(1_000);
    }
    db.full = false;
    const next = await finish(committer.commit(write("t/2")));

    const retried = results.every((result) =>
      !result.ok && result.error.code === "unavailable" && result.error.retry
    );
    assert.deepEqual([retried, codeOf(next), await keys(), losses], [true, "ok", ["t/2"], []]);
  }));

Deno.test("what was out of sight when the disk became full is known when there is room again, and not guessed", () =>
  bench(async ({ db, clock, committer, finish, keys, losses }) => {
    db.batchFaults.push("late");
    const commit = committer.commit(write("t/1"));
    await settle();
    db.full = true;
    await clock.advance(30_000);
    db.full = false;
    const result = await finish(commit);

    assert.deepEqual(await db.arrive(), [false], "what arrives later is refused");
    assert.deepEqual([codeOf(result), await keys(), losses], ["unavailable", [], []]);
  }));

Deno.test("a full disk that outlives the lease does not fence its holder off", () =>
  bench(async ({ db, committer, finish, keys, losses }) => {
    committer.setFence(await take(db));
    await db.batch([sql("UPDATE leases SET expires_at = 1")]);
    // The batch itself is refused by its fence; the renewal meets the full disk.
    db.batchFaults.push("none", new DbError("full", "database or disk is full"));

    const result = await finish(committer.commit(write("t/1")));

    assert.deepEqual([codeOf(result), await keys(), losses], ["ok", ["t/1"], []]);
  }));

Deno.test("an outcome that nobody can tell is never guessed", () =>
  bench(async ({ db, committer, finish, losses }) => {
    db.batchFaults.push("lose_answer");
    db.queryFaults.push("lose_request");
    const commit = committer.commit(write("t/1"));
    const waiting = committer.commit(write("t/2"));
    await settle();
    db.away = true;

    const results = await finish(Promise.all([commit, waiting]));
    const later = await committer.commit(write("t/3"));

    assert.deepEqual([...results, later].map(codeOf), ["unknown_outcome", "unknown_outcome", "fenced"]);
    assert.deepEqual(losses, ["unknown_outcome"]);
  }));

Deno.test("only the guilty members of a group fail, and the order is kept", () =>
  bench(async ({ db, committer, finish, keys }) => {
    committer.setFence(await take(db));
    const bad: CommitMember = {
      id: "bad",
      statements: [...labelled("the item waits", guard("0")), ...write("t/bad").statements],
    };

    const results = await finish(
      Promise.all([write("t/1"), bad, write("t/2"), write("t/3")].map((member) => committer.commit(member))),
    );

    assert.deepEqual(results.map(codeOf), ["ok", "guard_failed", "ok", "ok"]);
    assert.deepEqual(await keys(), ["t/1", "t/2", "t/3"]);
  }));

Deno.test("a fence that another one passed refuses everything and is told once", () =>
  bench(async ({ db, committer, finish, keys, losses }) => {
    committer.setFence(await take(db));
    await db.batch([sql("UPDATE leases SET expires_at = 1")]);
    await take(db, "b");

    const results = await finish(
      Promise.all([committer.commit(write("t/1")), committer.commit(write("t/2"))]),
    );
    const later = await committer.commit(write("t/3"));

    assert.deepEqual([...results, later].map(codeOf), ["fenced", "fenced", "fenced"]);
    assert.deepEqual([await keys(), losses], [[], ["fenced"]]);
  }));

Deno.test("a commit that landed before the lease was lost is answered as committed", () =>
  bench(async ({ db, committer, finish, keys, losses }) => {
    committer.setFence(await take(db));
    db.batchFaults.push("late");
    const commit = committer.commit(write("t/1"));
    await settle();
    await db.arrive();
    await db.batch([sql("UPDATE leases SET expires_at = 1")]);
    await take(db, "b");

    const result = await finish(commit);

    assert.deepEqual([codeOf(result), await keys(), losses], ["recovered", ["t/1"], []]);
  }));

Deno.test("old commit rows are pruned, voided ones too, and recent ones stay", () =>
  bench(async ({ db, clock, committer, finish }) => {
    const idOf = (ageMs: number, tail: string) => `${idFloor(clock.now() - ageMs)}-${tail}`;
    const recent = idOf(3_500_000, "voided");
    await db.batch([
      sql(
        "INSERT INTO commits (id, at) VALUES (?, 1), (?, -1), (?, -1)",
        idOf(3_700_000, "applied"),
        idOf(3_700_000, "voided"),
        recent,
      ),
    ]);

    await finish(committer.commit(write("t/1")));
    const rows = await db.query(sql("SELECT id FROM commits ORDER BY id"));

    assert.deepEqual(rows.rows, [[recent], ["commit-1"]]);
  }));

Deno.test("closing answers what waits as unavailable and ends what is under way", () =>
  bench(async ({ committer, keys }) => {
    const commits = [committer.commit(write("t/1"))];
    await Promise.resolve();
    commits.push(committer.commit(write("t/2")));

    await committer.close();
    const results = await Promise.all([...commits, committer.commit(write("t/3"))]);

    assert.deepEqual(results.map(codeOf), ["ok", "unavailable", "unavailable"]);
    assert.deepEqual(await keys(), ["t/1"]);
  }));

Deno.test("a group ends at its limits, but holds at least one member", () => {
  const members = ["t/1", "t/2", "t/3"].map(write);

  assert.equal(groupLength(members, { maxMembers: 2, maxBytes: 1_000_000 }), 2);
  assert.equal(groupLength(members, { maxMembers: 64, maxBytes: 1 }), 1);
  assert.equal(groupLength(members, { maxMembers: 64, maxBytes: 1_000_000 }), 3);
  assert.equal(groupLength([], { maxMembers: 64, maxBytes: 1 }), 0);
});

Deno.test("the fence is told from a member's guard and from a repeated id", () => {
  const failing = (constraint: string) => readError(new DbError("constraint", "x", constraint));

  assert.deepEqual(["commits.at", "commits.id", "guard.ok", "messages.dedupe"].map(failing), [
    "fenced",
    "duplicate",
    "refused",
    "refused",
  ]);
});

Deno.test("a refusal names the statement of the member, not of the batch", () => {
  const member: CommitMember = {
    id: "m",
    statements: [...write("t/1").statements, ...labelled("version 3", guard("0"))],
  };

  const failure = refusal(member, new DbError("constraint", "x", "guard.ok"), 1);

  assert.deepEqual(failure, {
    code: "guard_failed",
    message: "A condition no longer holds: version 3",
    retry: false,
  });
});

Deno.test("a batch begins with its fence, whatever its members are", () => {
  const fence: Lease = { name: "supervisor", holder: "a", fence: 7, ttlMs: 1 };

  const batch = compose("c", [write("t/1")], { fence, pruneBelow: "b" });

  assert.match(batch.statements[0]?.sql ?? "", /^INSERT INTO commits .* FROM leases/s);
  assert.deepEqual([batch.offset, batch.statements.length], [2, 3]);
});
