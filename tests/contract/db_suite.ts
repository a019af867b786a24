/**
 * The promises of `Db`, as a suite that every implementation runs: native file, web client over Hrana, store Worker. A factory opens a fresh
 * database with the schema applied; nothing here knows which one it is.
 */
import assert from "node:assert/strict";
import { type Db, DbError, guard, objects, sql } from "../../store/db.ts";

/** An open, migrated database and how to be rid of it. */
export interface OpenedDb {
  readonly db: Db;
  close(): Promise<void>;
}

const setting = (key: string, value: string) =>
  sql("INSERT INTO settings (key, value, at) VALUES (?, ?, 0)", key, value);
const count = async (db: Db) =>
  (await db.query(sql("SELECT count(*) FROM settings WHERE key LIKE 't/%'"))).rows[0]?.[0];

/** The `DbError` that the call rejects with; anything else fails the test. */
export async function dbError(call: Promise<unknown>): Promise<DbError> {
  try {
    await call;
  } catch (error) {
    assert(error instanceof DbError, `expected a DbError, got ${error}`);
    return error;
  }
  return assert.fail("expected the call to reject");
}

/** Registers the suite's tests under `name`. */
export function dbSuite(name: string, open: () => Promise<OpenedDb>): void {
  const promise = (text: string, run: (db: Db) => Promise<void>) =>
    Deno.test(`${name} ${text}`, async () => {
      const opened = await open();
      try {
        await run(opened.db);
      } finally {
        await opened.close();
      }
    });

  promise("gives back every kind of value as it was bound", async (db) => {
    const rows = await db.query(
      sql(
        "SELECT ? AS n, ? AS t, ? AS i, ? AS f, ? AS b, ? AS yes",
        null,
        "é",
        42,
        1.5,
        new Uint8Array([0, 1, 255]),
        true,
      ),
    );

    assert.deepEqual(objects(rows), [{
      n: null,
      t: "é",
      i: 42,
      f: 1.5,
      b: new Uint8Array([0, 1, 255]),
      yes: 1,
    }]);
  });

  promise("binds whole numbers as integers", async (db) => {
    const rows = await db.query({ sql: "SELECT typeof(?), typeof(?)", args: [7, 7n] });

    assert.deepEqual(rows.rows, [["integer", "integer"]]);
  });

  promise("refuses an integer that a number cannot hold", async (db) => {
    const error = await dbError(db.query(sql("SELECT 9007199254740993")));

    assert.equal(error.kind, "other");
  });

  promise("applies a batch and tells the rows of each statement", async (db) => {
    const results = await db.batch([
      setting("t/1", "a"),
      sql("INSERT INTO settings (key, value, at) VALUES ('t/2', 'b', 0) RETURNING key"),
      sql("UPDATE settings SET value = 'c' WHERE key LIKE 't/%'"),
    ]);

    assert.deepEqual(results.map((rows) => rows.rowsAffected), [1, 0, 2]);
    assert.deepEqual(objects(results[1] ?? assert.fail()), [{ key: "t/2" }]);
    assert.equal(await count(db), 2);
  });

  promise("rolls the whole batch back when a guard fails, and names the guard", async (db) => {
    const error = await dbError(db.batch([setting("t/1", "a"), ...guard("1 = 2"), setting("t/2", "b")]));

    assert.deepEqual([error.kind, error.constraint, error.statement], ["constraint", "guard.ok", 1]);
    assert.equal(await count(db), 0);
  });

  promise("passes a guard whose condition holds and leaves nothing in its table", async (db) => {
    await db.batch([setting("t/1", "a"), ...guard("EXISTS (SELECT 1 FROM settings WHERE key = ?)", "t/1")]);

    assert.deepEqual((await db.query(sql("SELECT count(*) FROM guard"))).rows, [[0]]);
    assert.equal(await count(db), 1);
  });

  promise("names the columns of a unique constraint and works on afterwards", async (db) => {
    await db.batch([setting("t/1", "a")]);

    const error = await dbError(db.batch([setting("t/2", "b"), setting("t/1", "again")]));
    await db.batch([setting("t/3", "c")]);

    assert.deepEqual([error.kind, error.constraint, error.statement], ["constraint", "settings.key", 1]);
    assert.equal(await count(db), 2);
  });

  promise("rolls a batch with wrong SQL back", async (db) => {
    const error = await dbError(db.batch([setting("t/1", "a"), sql("INSERT INTO no_such_table VALUES (1)")]));

    assert.deepEqual([error.kind, error.statement], ["other", 1]);
    assert.equal(await count(db), 0);
  });

  promise("enforces foreign keys", async (db) => {
    const error = await dbError(db.batch([
      sql(`INSERT INTO profiles (id, name, brain, group_id, config, created_at, updated_at)
           VALUES ('p', 'p', 'builtin', 'none', '{}', 0, 0)`),
    ]));

    assert.equal(error.kind, "constraint");
  });

  promise("answers several reads from one snapshot", async (db) => {
    await db.batch([setting("t/1", "a")]);

    const [first, second] = await db.queryAll([
      sql("SELECT value FROM settings WHERE key = ?", "t/1"),
      sql("SELECT 1 AS one"),
    ]);

    assert.deepEqual([first?.rows, second?.rows], [[["a"]], [[1]]]);
  });

  promise("applies batches that are sent at the same time", async (db) => {
    await Promise.all(Array.from({ length: 10 }, (_, index) => db.batch([setting(`t/${index}`, "x")])));

    assert.equal(await count(db), 10);
  });
}
