/**
 * Runs the `Db` suite against every implementation, and the promises that only one kind of connection can break: BUSY on a file, lost
 * answers over HTTP.
 */
import assert from "node:assert/strict";
import { sql } from "../../store/db.ts";
import { openDb } from "../../store/open.ts";
import { openWebDb } from "../../store/web_db.ts";
import { openStore } from "../../store/worker_db.ts";
import { openNative, openWeb, openWorkerStore } from "./_databases.ts";
import { dbError, dbSuite } from "./db_suite.ts";
import { holdLock } from "./_children.ts";

dbSuite("the native client", () => openNative());
dbSuite("the web client", () => openWeb());
dbSuite("the store Worker", () => openWorkerStore());

const setting = (key: string) => sql("INSERT INTO settings (key, value, at) VALUES (?, 'x', 0)", key);
const keys = sql("SELECT key FROM settings WHERE key LIKE 't/%' ORDER BY key");

for (const [name, open] of [["native client", openNative], ["store Worker", openWorkerStore]] as const) {
  Deno.test(`the ${name} loses nothing after SQLITE_BUSY`, async () => {
    const { db, path, close } = await open(50);
    const lock = await holdLock(path);

    const error = await dbError(db.batch([setting("t/refused")]));
    await lock.release();
    for (const key of ["t/1", "t/2", "t/3"]) await db.batch([setting(key)]);
    await db.close();
    const again = await openDb({ url: `file:${path}` });
    const rows = await again.query(keys);
    await again.close();
    await close();

    assert.equal(error.kind, "busy");
    assert.deepEqual(rows.rows, [["t/1"], ["t/2"], ["t/3"]]);
  });
}

Deno.test("the native client syncs fully and keeps foreign keys on, also after it was busy", async () => {
  const { db, path, close } = await openNative(20);
  const lock = await holdLock(path);
  await dbError(db.batch([setting("t/1")]));
  await lock.release();

  const [synchronous, foreignKeys, journal] = [
    await db.query(sql("PRAGMA synchronous")),
    await db.query(sql("PRAGMA foreign_keys")),
    await db.query(sql("PRAGMA journal_mode")),
  ];
  await close();

  assert.deepEqual([synchronous.rows, foreignKeys.rows, journal.rows], [[[2]], [[1]], [["wal"]]]);
});

Deno.test("the native client sees a changed schema through a statement that it has run before", async () => {
  const { db, close } = await openNative();
  const all = sql("SELECT * FROM settings");
  await db.batch([setting("t/1")]);
  await db.query(all);

  await db.batch([sql("ALTER TABLE settings ADD COLUMN more TEXT")]);
  const rows = await db.query(all);
  await close();

  assert.ok(rows.columns.includes("more"));
  assert.equal(rows.rows[0]?.length, rows.columns.length);
});

Deno.test("the native client says that the disk is full, keeps nothing of the batch and works on afterwards", async () => {
  const { db, close } = await openNative();
  const [pages] = (await db.query(sql("PRAGMA page_count"))).rows[0] ?? [];
  await db.query(sql(`PRAGMA max_page_count = ${Number(pages) + 2}`));

  const error = await dbError(
    db.batch([
      setting("t/1"),
      sql("INSERT INTO settings (key, value, at) VALUES ('t/2', ?, 0)", "x".repeat(100_000)),
    ]),
  );
  await db.batch([setting("t/3")]);
  const rows = await db.query(keys);
  await close();

  assert.deepEqual([error.kind, error.statement], ["full", 1]);
  assert.deepEqual(rows.rows, [["t/3"]]);
});

Deno.test("the web client reports a dropped answer as a broken connection and sends the batch once", async () => {
  const { db, server, close } = await openWeb();
  const before = server.batches;
  server.faults.push({ type: "drop_answer" });

  const error = await dbError(db.batch([setting("t/1")]));
  const rows = await db.query(keys);
  const sent = server.batches - before;
  await close();

  assert.equal(error.kind, "connection");
  assert.deepEqual(rows.rows, [["t/1"]]);
  assert.equal(sent, 1);
});

Deno.test("the web client gives up on a database that does not answer in time", async () => {
  const { db, server, close } = await openWeb(200);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.faults.push({ type: "gate", until: promise });

  const error = await dbError(db.batch([setting("t/1")]));
  resolve();
  await db.batch([setting("t/2")]);
  await close();

  assert.equal(error.kind, "timeout");
});

Deno.test("the web client reports a held lock as busy", async () => {
  const { db, server, close } = await openWeb();
  server.faults.push({ type: "busy" });

  const error = await dbError(db.batch([setting("t/1")]));
  await db.batch([setting("t/2")]);
  const rows = await db.query(keys);
  await close();

  assert.equal(error.kind, "busy");
  assert.deepEqual(rows.rows, [["t/2"]]);
});

Deno.test("opening with a wrong token fails without repeating the token", async () => {
  const { server, close } = await openWeb();

  const error = await dbError(
    openWebDb({ url: `${server.url}?authToken=secret-in-url`, authToken: "secret-token" }),
  );
  await close();

  assert.match(error.message, /check .* token/);
  assert.doesNotMatch(`${error.message} ${Deno.inspect(error)}`, /secret/);
});

Deno.test("opening a file that cannot be created fails with a DbError, also in the Worker", async () => {
  const native = await dbError(openDb({ url: "file:/nowhere/at/all.db" }));
  const worker = await dbError(openStore({ url: "file:/nowhere/at/all.db" }));

  assert.deepEqual([native.kind, worker.kind], ["other", "other"]);
});
