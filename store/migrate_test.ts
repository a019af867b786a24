/**
 * Proves that versions are applied once, in order, under the lease, and that a file is copied before it is changed.
 */
import assert from "node:assert/strict";
import { type Db, sql } from "./db.ts";
import { acquireLease, type Lease, SUPERVISOR_LEASE } from "./lease.ts";
import { bootstrap, checkSchema, migrate, migrations, schemaRange, schemaVersion } from "./migrate.ts";
import { openDb } from "./open.ts";

const second = ["CREATE TABLE later (id TEXT PRIMARY KEY) STRICT"];
const versions = [...migrations.slice(0, 1), second];

async function inFolder(run: (folder: string, open: () => Promise<Db>) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "callboard-migrate-" });
  const opened: Db[] = [];
  try {
    await run(folder, async () => {
      const db = await openDb({ url: `file:${folder}/test.db` });
      opened.push(db);
      return db;
    });
  } finally {
    for (const db of opened) await db.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function take(db: Db): Promise<Lease> {
  const acquired = await acquireLease(db, { name: SUPERVISOR_LEASE, holder: "test", ttlMs: 60_000 });
  assert(acquired.ok);
  return acquired.lease;
}

Deno.test("an empty database is version 0 and does not fit", () =>
  inFolder(async (_folder, open) => {
    const db = await open();

    const checked = await checkSchema(db);

    assert.equal(await schemaVersion(db), 0);
    assert.equal(!checked.ok && checked.error.code, "schema_mismatch");
  }));

Deno.test("two connections that start on an empty database at once create it once", () =>
  inFolder(async (_folder, open) => {
    const [one, other] = [await open(), await open()];

    await Promise.all([bootstrap(one), bootstrap(other)]);

    assert.deepEqual([await schemaVersion(one), await schemaVersion(other)], [1, 1]);
    assert.deepEqual(await checkSchema(one, { min: 1, max: 1 }), { ok: true, value: 1 });
  }));

Deno.test("a missing version is applied once and recorded", () =>
  inFolder(async (_folder, open) => {
    const db = await open();
    await bootstrap(db);
    const lease = await take(db);

    const first = await migrate(db, { lease, versions });
    const again = await migrate(db, { lease, versions });

    assert.deepEqual([first, again], [{ ok: true, value: { from: 1, to: 2 } }, {
      ok: true,
      value: { from: 2, to: 2 },
    }]);
    assert.equal(await schemaVersion(db), 2);
  }));

Deno.test("a version that fails leaves nothing behind", () =>
  inFolder(async (_folder, open) => {
    const db = await open();
    await bootstrap(db);
    const lease = await take(db);

    await assert.rejects(
      migrate(db, { lease, versions: [...versions.slice(0, 1), [...second, "nonsense"]] }),
      { name: "DbError" },
    );

    assert.equal(await schemaVersion(db), 1);
    assert.deepEqual((await db.query(sql("SELECT count(*) FROM sqlite_master WHERE name = 'later'"))).rows, [[
      0,
    ]]);
  }));

Deno.test("a version is not applied without the lease", () =>
  inFolder(async (_folder, open) => {
    const db = await open();
    await bootstrap(db);
    const lease = await take(db);
    await take(db);

    await assert.rejects(migrate(db, { lease, versions }), { kind: "constraint", constraint: "guard.ok" });

    assert.equal(await schemaVersion(db), 1);
  }));

Deno.test("a file is copied before a new version is applied, and only then", () =>
  inFolder(async (folder, open) => {
    const db = await open();
    await bootstrap(db);
    await db.batch([sql("INSERT INTO settings (key, value, at) VALUES ('kept', 'yes', 0)")]);
    const lease = await take(db);
    const copied: number[] = [];
    const backupPath = (from: number) => {
      copied.push(from);
      return `${folder}/before-${from}.db`;
    };

    await migrate(db, { lease, versions, backupPath });
    await migrate(db, { lease, versions, backupPath });
    const copy = await openDb({ url: `file:${folder}/before-1.db` });
    const version = await schemaVersion(copy);
    const kept = await copy.query(sql("SELECT value FROM settings WHERE key = 'kept'"));
    await copy.close();

    assert.deepEqual([copied, version, kept.rows], [[1], 1, [["yes"]]]);
  }));

Deno.test("a database newer than the build is left alone", () =>
  inFolder(async (_folder, open) => {
    const db = await open();
    await bootstrap(db);
    await db.batch([sql("UPDATE settings SET value = '99' WHERE key = 'schema_version'")]);
    const lease = await take(db);

    const migrated = await migrate(db, { lease });
    const checked = await checkSchema(db, schemaRange);

    assert.deepEqual([migrated, checked].map((result) => !result.ok && result.error.code), [
      "schema_mismatch",
      "schema_mismatch",
    ]);
  }));
