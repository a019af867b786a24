/**
 * Typed queries over any `Db`: drizzle builds them, we run them. Reads run directly; a write is only compiled to a `Statement`, so that it
 * can join a batch. The only importer of drizzle's drivers. Proven by `store/schema_test.ts`.
 */
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { type Db, sql, type SqlValue, type Statement } from "./db.ts";
import * as schema from "./schema.ts";

/** A drizzle database whose reads go through `db`. */
export type TypedDb = ReturnType<typeof typed>;

/**
 * Builds typed reads that run through `db`, and writes for `compile`.
 *
 * ```ts ignore
 * const open = await typed(db).select().from(schema.pendingItems).where(eq(schema.pendingItems.state, "waiting"));
 * ```
 */
export function typed(db: Db) {
  return drizzle(async (text, params, method) => {
    if (!/^\s*(select|with)\b/i.test(text)) {
      throw new TypeError("a write is compiled with 'compile' and sent in a batch");
    }
    const { rows } = await db.query(statement(text, params));
    // A single get wants the row itself; every other method wants all rows.
    return { rows: method === "get" ? [...(rows[0] ?? [])] : rows.map((row) => [...row]) };
  }, { schema });
}

/** A drizzle query, read or write, as a statement for `query` or `batch`. */
export function compile(query: { toSQL(): { sql: string; params: unknown[] } }): Statement {
  const compiled = query.toSQL();
  return statement(compiled.sql, compiled.params);
}

function statement(text: string, params: readonly unknown[]): Statement {
  return sql(text, ...params.map(bindable));
}

function bindable(value: unknown): SqlValue | boolean {
  if (value === null || value instanceof Uint8Array) return value;
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return value;
    default:
      throw new TypeError(`A query parameter of type ${typeof value} cannot be bound`);
  }
}
