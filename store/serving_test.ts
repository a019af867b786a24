import assert from "node:assert/strict";
import { type Db, sql } from "./db.ts";
import { acquireLease, type Lease, releaseLease, SUPERVISOR_LEASE } from "./lease.ts";
import { bootstrap, migrate } from "./migrate.ts";
import { openDb } from "./open.ts";
import { noteServing, readServing } from "./serving.ts";

async function take(db: Db, holder: string): Promise<Lease> {
  const acquired = await acquireLease(db, { name: SUPERVISOR_LEASE, holder, ttlMs: 9_000 });
  assert.ok(acquired.ok);
  return acquired.lease;
}

Deno.test("an address is named while its supervisor holds the lease, and no longer", async () => {
  const db = await openDb({ url: ":memory:" });
  try {
    await bootstrap(db);
    const first = await take(db, "a");
    await migrate(db, { lease: first });
    const none = await readServing(db);
    await db.batch([noteServing("http://localhost:4001", first, 1)]);
    const served = await readServing(db);
    await db.batch([sql("UPDATE leases SET expires_at = 1")]);
    const killed = await readServing(db);
    const second = await take(db, "b");
    const starting = await readServing(db);
    await db.batch([noteServing("http://localhost:4002", second, 2)]);
    const successor = await readServing(db);
    await releaseLease(db, second);

    assert.deepEqual(
      { none, served, killed, starting, successor, stopped: await readServing(db) },
      {
        none: undefined,
        served: "http://localhost:4001",
        killed: undefined,
        starting: undefined,
        successor: "http://localhost:4002",
        stopped: undefined,
      },
    );
  } finally {
    await db.close();
  }
});
