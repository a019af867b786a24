/**
 * Compares drizzle's declaration with the migrated database, and proves `typed()` and `compile()`.
 */
import assert from "node:assert/strict";
import { eq, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Db, objects, sql } from "./db.ts";
import { bootstrap } from "./migrate.ts";
import { openDb } from "./open.ts";
import * as schema from "./schema.ts";
import { compile, typed } from "./typed.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  readonly inKey: boolean;
}

const declared = Object.values(schema).filter((value) => is(value, SQLiteTable)).map((table) =>
  getTableConfig(table)
);

async function inMemory(run: (db: Db) => Promise<void>): Promise<void> {
  const db = await openDb({ url: ":memory:" });
  try {
    await bootstrap(db);
    await run(db);
  } finally {
    await db.close();
  }
}

async function realColumns(db: Db, table: string): Promise<Column[]> {
  const rows = await db.query(
    sql('SELECT name, type, "notnull" AS required, pk FROM pragma_table_info(?)', table),
  );
  return objects<{ name: string; type: string; required: number; pk: number }>(rows).map((row) => ({
    name: row.name,
    type: row.type,
    // A key column of a STRICT table holds no NULL, whether SQLite reports it or not.
    notNull: row.required === 1 || row.pk > 0,
    inKey: row.pk > 0,
  }));
}

function declaredColumns(config: typeof declared[number]): Column[] {
  const compound = new Set(config.primaryKeys.flatMap((key) => key.columns.map((column) => column.name)));
  return config.columns.map((column) => ({
    name: column.name,
    type: column.getSQLType().toUpperCase(),
    notNull: column.notNull,
    inKey: column.primary || compound.has(column.name),
  }));
}

Deno.test("the declaration names every table of the migrated database and no other", () =>
  inMemory(async (db) => {
    const rows = await db.query(
      sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"),
    );

    assert.deepEqual(declared.map((table) => table.name).sort(), rows.rows.map((row) => row[0]));
  }));

Deno.test("each declared table has the columns, types, keys and NOT NULLs of the real one", () =>
  inMemory(async (db) => {
    for (const config of declared) {
      assert.deepEqual(declaredColumns(config), await realColumns(db, config.name), config.name);
    }
  }));

Deno.test("every table is STRICT", () =>
  inMemory(async (db) => {
    const rows = await db.query(
      sql(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND strict = 0",
      ),
    );

    assert.deepEqual(rows.rows, []);
  }));

Deno.test("a compiled write joins a batch, and a typed read finds its row", () =>
  inMemory(async (db) => {
    const open = typed(db);
    const row = {
      id: "k",
      userId: "u",
      publicKey: new Uint8Array([1, 2]),
      counter: 3,
      transports: "[]",
      name: "phone",
      multiDevice: 1,
      backedUp: 0,
      createdAt: 4,
    };

    await db.batch([compile(open.insert(schema.passkeys).values(row))]);
    const found = await open.select().from(schema.passkeys).where(eq(schema.passkeys.id, "k"));
    const first = await open.select({ counter: schema.passkeys.counter }).from(schema.passkeys).get();

    assert.deepEqual(found, [{ ...row, usedAt: null }]);
    assert.deepEqual(first, { counter: 3 });
  }));

Deno.test("a typed write that is run outside a batch is refused", () =>
  inMemory(async (db) => {
    const write = typed(db).insert(schema.commits).values({ id: "x", at: 1 });

    await assert.rejects(async () => await write, (error: Error) =>
      /in a batch/.test(`${error.message} ${error.cause}`));
  }));
