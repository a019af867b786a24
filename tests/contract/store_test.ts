/**
 * The promises of `Store` in one suite, run against the Worker on a file, a direct native store, and a direct store over HTTP; then those
 * that need a fault: a lost answer, a held lock, a killed process.
 */
import assert from "node:assert/strict";
import type { CommitMember, CommitResult } from "../../store/committer.ts";
import { guard, labelled, objects, sql } from "../../store/db.ts";
import { acquireLease, type Lease, releaseLease, SUPERVISOR_LEASE } from "../../store/lease.ts";
import { openDb } from "../../store/open.ts";
import { directStore, type Store, type StoreLoss } from "../../store/store.ts";
import { openStore } from "../../store/worker_db.ts";
import type { HranaServer } from "../doubles/hrana_server.ts";
import { holdLock, startChild } from "./_children.ts";
import { openNative, openRemoteWorkerStore, openWeb, openWorkerStore } from "./_databases.ts";

interface OpenedStore {
  readonly db: Store;
  readonly path: string;
  close(): Promise<void>;
}

const write = (key: string): CommitMember => ({
  id: key,
  statements: [sql("INSERT INTO settings (key, value, at) VALUES (?, 'x', 0) RETURNING key", key)],
});
const guarded = (key: string): CommitMember => ({
  id: key,
  statements: [...write(key).statements, ...labelled("the item still waits", guard("1 = 2"))],
});
const keysOf = async (store: Store) =>
  objects<{ key: string }>(
    await store.query(sql("SELECT key FROM settings WHERE key LIKE 't/%' ORDER BY rowid")),
  )
    .map((row) => row.key);
const codeOf = (result: CommitResult) => result.ok ? "ok" : result.error.code;

async function lease(store: Store, holder: string, ttlMs = 10_000): Promise<Lease> {
  const acquired = await acquireLease(store, { name: SUPERVISOR_LEASE, holder, ttlMs });
  assert(acquired.ok);
  return acquired.lease;
}

async function openDirectWeb(): Promise<OpenedStore & { readonly server: HranaServer }> {
  const web = await openWeb();
  return { ...web, db: directStore(web.db) };
}

async function openDirectNative(timeoutMs?: number): Promise<OpenedStore> {
  const native = await openNative(timeoutMs);
  return { ...native, db: directStore(native.db) };
}

function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  const promise = (text: string, run: (store: Store) => Promise<void>) =>
    Deno.test(`${name} ${text}`, async () => {
      const opened = await open();
      try {
        await run(opened.db);
      } finally {
        await opened.close();
      }
    });

  promise("answers each member of a group with its own rows, in order", async (store) => {
    store.setFence(await lease(store, "a"));

    const results = await Promise.all(["t/1", "t/2", "t/3"].map((key) => store.commit(write(key))));

    assert.deepEqual(results.map((result) => result.ok && result.rows.map((rows) => rows.rows)), [
      [[["t/1"]]],
      [[["t/2"]]],
      [[["t/3"]]],
    ]);
    assert.deepEqual(await keysOf(store), ["t/1", "t/2", "t/3"]);
  });

  promise("puts what waits into one batch", async (store) => {
    await store.commit(write("t/0"));
    await Promise.all(Array.from({ length: 5 }, (_, index) => store.commit(write(`t/${index + 1}`))));

    const commits = (await store.query(sql("SELECT count(*) FROM commits"))).rows[0]?.[0];

    assert(typeof commits === "number" && commits <= 3, `6 members took ${commits} batches`);
  });

  promise("fails only the guilty member of a group, and names its guard", async (store) => {
    store.setFence(await lease(store, "a"));

    const results = await Promise.all(
      [write("t/1"), guarded("t/2"), write("t/1"), write("t/4")].map((m) => store.commit(m)),
    );

    assert.deepEqual(results.map(codeOf), ["ok", "guard_failed", "conflict", "ok"]);
    assert.deepEqual(await keysOf(store), ["t/1", "t/4"]);
    const refused = results[1];
    assert(refused && !refused.ok);
    assert.match(refused.error.message, /the item still waits/);
  });

  promise("writes nothing once a second holder has the lease, and says so once", async (store) => {
    const losses: StoreLoss[] = [];
    store.onLost = (loss) => losses.push(loss);
    const mine = await lease(store, "a");
    store.setFence(mine);
    await store.commit(write("t/1"));
    await releaseLease(store, mine);
    await lease(store, "b");

    const together = await Promise.all([store.commit(write("t/2")), store.commit(guarded("t/3"))]);
    const later = await store.commit(write("t/4"));

    assert.deepEqual([...together, later].map(codeOf), ["fenced", "fenced", "fenced"]);
    assert.deepEqual(await keysOf(store), ["t/1"]);
    assert.deepEqual(losses, ["fenced"]);
  });

  promise("carries on with a lease that ran out but that nobody took", async (store) => {
    const mine = await lease(store, "a");
    store.setFence(mine);
    await releaseLease(store, mine);

    const result = await store.commit(write("t/1"));

    assert.equal(codeOf(result), "ok");
    assert.deepEqual(await keysOf(store), ["t/1"]);
  });
}

storeSuite("the store Worker", () => openWorkerStore());
storeSuite("the store Worker over HTTP", () => openRemoteWorkerStore());
storeSuite("the direct native store", () => openDirectNative());
storeSuite("the direct web store", () => openDirectWeb());

Deno.test("a commit whose answer was lost is found by its id and applied once", async () => {
  const { db: store, server, close } = await openDirectWeb();
  store.setFence(await lease(store, "a"));
  server.faults.push({ type: "drop_answer" });

  const results = await Promise.all([store.commit(write("t/1")), store.commit(write("t/2"))]);
  const keys = await keysOf(store);
  await close();

  assert.deepEqual(results.map((result) => result.ok && result.recovered), [true, true]);
  assert.deepEqual(keys, ["t/1", "t/2"]);
});

Deno.test("a commit whose request was lost is sent again", async () => {
  const { db: store, server, close } = await openDirectWeb();
  server.faults.push({ type: "drop_request" }, { type: "drop_request" }, { type: "busy" });

  const result = await store.commit(write("t/1"));
  const keys = await keysOf(store);
  await close();

  assert.equal(codeOf(result), "ok");
  assert.deepEqual(keys, ["t/1"]);
});

Deno.test("a commit that the database holds back past the time limit is applied once", async () => {
  const opened = await openWeb(150);
  const store = directStore(opened.db);
  const gate = Promise.withResolvers<void>();
  opened.server.faults.push({ type: "gate", until: gate.promise });

  const committed = store.commit(write("t/1"));
  const result = await committed;
  gate.resolve();
  await store.commit(write("t/2"));
  const keys = await keysOf(store);
  await opened.close();

  assert.equal(codeOf(result), "ok");
  assert.deepEqual(keys, ["t/1", "t/2"]);
});

for (
  const [name, open] of [["store Worker", openWorkerStore], [
    "direct native store",
    openDirectNative,
  ]] as const
) {
  Deno.test(`the ${name} waits a lock out and loses nothing`, async () => {
    const { db: store, path, close } = await open(20);
    const lock = await holdLock(path);

    const results = Promise.all(["t/1", "t/2", "t/3"].map((key) => store.commit(write(key))));
    await store.query(sql("SELECT 1"));
    await lock.release();
    const codes = (await results).map(codeOf);
    await store.close();
    const again = directStore(await openDb({ url: `file:${path}` }));
    const keys = await keysOf(again);
    await again.close();
    await close();

    assert.deepEqual(codes, ["ok", "ok", "ok"]);
    assert.deepEqual(keys, ["t/1", "t/2", "t/3"]);
  });
}

Deno.test("kill -9 in the middle of commits loses no acknowledged row", async () => {
  const { db, path, close } = await openNative();
  await db.close();
  const child = startChild("commit_loop.ts", path);
  const acknowledged: string[] = [];
  while (acknowledged.length < 200) {
    acknowledged.push(await child.line() ?? assert.fail("the child ended early"));
  }
  child.kill("SIGKILL");
  acknowledged.push(...await child.end());

  const again = await openDb({ url: `file:${path}` });
  const rows = await again.query(sql("SELECT key FROM settings WHERE key LIKE 'loop/%'"));
  const check = await again.query(sql("PRAGMA integrity_check"));
  await again.close();
  await close();

  const found = new Set(rows.rows.map((row) => row[0]));
  assert.deepEqual(acknowledged.filter((number) => !found.has(`loop/${number}`)), []);
  assert.deepEqual(check.rows, [["ok"]]);
});

Deno.test("a store Worker that dies rejects the calls under way and tells it once", async () => {
  const entry = new URL("./dying_store_worker.ts", import.meta.url);
  const store = await openStore({ url: "file:unused.db", entry });
  const losses: StoreLoss[] = [];
  store.onLost = (loss) => losses.push(loss);

  const calls = [store.commit(write("t/1")), store.commit(write("t/2"))];
  const outcomes = await Promise.allSettled(calls);
  await assert.rejects(store.query(sql("SELECT 1")), { name: "DbError", kind: "connection" });
  await store.close();

  assert.deepEqual(outcomes.map((outcome) => outcome.status), ["rejected", "rejected"]);
  assert.deepEqual(losses, ["died"]);
});

Deno.test("the store Worker rejects calls after it was closed, which is no loss", async () => {
  const { db: store, close } = await openWorkerStore();
  const losses: StoreLoss[] = [];
  store.onLost = (loss) => losses.push(loss);

  await store.close();

  await assert.rejects(store.commit(write("t/1")), { name: "DbError", kind: "connection" });
  assert.deepEqual(losses, []);
  await close();
});

Deno.test("the store Worker also runs where its rights cannot be restricted", async () => {
  const { db: store, close } = await openWorkerStore(2_000, false);

  const result = await store.commit(write("t/1"));
  await close();

  assert.equal(codeOf(result), "ok");
});

Deno.test("commits made while others are under way share batches", async () => {
  const { db: store, close } = await openWorkerStore();

  await Promise.all(Array.from({ length: 300 }, (_, index) => store.commit(write(`t/${index}`))));
  const commits = (await store.query(sql("SELECT count(*) FROM commits"))).rows[0]?.[0];
  const keys = await keysOf(store);
  await close();

  assert.deepEqual(keys, Array.from({ length: 300 }, (_, index) => `t/${index}`));
  assert.equal(commits, 5);
});
