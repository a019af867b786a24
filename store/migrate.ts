/**
 * Brings a database to the schema of this build: forward only, one batch a version, recorded as `schema_version` in `settings`. Promises that
 * two processes which start on one database never apply a version twice: version 1 creates tables that must not exist, every later one is
 * guarded by the version before it and by the lease. Statements are hand-written under `migrations/`. Proven by `store/migrate_test.ts`.
 */
import { fail, ok, type Result } from "../lib/result.ts";
import { type Db, DbError, guard, sql, type Statement } from "./db.ts";
import { DB_NOW, type Lease } from "./lease.ts";
import { statements as init } from "./migrations/0001_init.ts";

/** One version's statements; the array's index plus one is the version. */
export type Migrations = readonly (readonly string[])[];

/** Every version of this build, in order. */
export const migrations: Migrations = [init];

/** The versions that this build can work with. The edge may run older or newer than the supervisor within this range. */
export const schemaRange = { min: 1, max: migrations.length } as const;

/** The version of the database; 0 when it is empty. Rejects with `DbError`. */
export async function schemaVersion(db: Db): Promise<number> {
  const found = await db.query(
    sql("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'settings'"),
  );
  if (found.rows[0]?.[0] === 0) return 0;
  const rows = await db.query(sql("SELECT value FROM settings WHERE key = 'schema_version'"));
  const version = Number(rows.rows[0]?.[0]);
  if (!Number.isInteger(version) || version < 1) {
    throw new DbError("other", "The database holds no readable schema version");
  }
  return version;
}

/** Whether this build can work with the database as it is: its version, or `schema_mismatch` with what to do. */
export async function checkSchema(
  db: Db,
  range: { min: number; max: number } = schemaRange,
): Promise<Result<number>> {
  const version = await schemaVersion(db);
  if (version >= range.min && version <= range.max) return ok(version);
  const cure = version < range.min
    ? "start the supervisor of this version, which upgrades it"
    : "upgrade this program";
  return fail(
    "schema_mismatch",
    `The database has schema ${version}, this build needs ${range.min} to ${range.max}: ${cure}`,
    true,
  );
}

/**
 * Creates version 1 in an empty database, so that there is a table to hold the lease; does nothing otherwise. Safe to run in several
 * processes at once. Rejects with `DbError`.
 */
export async function bootstrap(db: Db, versions: Migrations = migrations): Promise<void> {
  if (await schemaVersion(db) > 0) return;
  const record = sql(`INSERT INTO settings (key, value, at) VALUES ('schema_version', '1', ${DB_NOW})`);
  try {
    await db.batch([...(versions[0] ?? []).map((text) => sql(text)), record]);
  } catch (error) {
    // Another process was first, or the answer was lost after the commit: either way the tables are there now.
    if (await schemaVersion(db) === 0) throw error;
  }
}

/** What `migrate` needs. */
export interface MigrateOptions {
  /** The lease under which versions are applied. */
  readonly lease: Lease;
  /** For a `file:` database: where to write the copy of version `from` before it is changed. The file must not exist. */
  readonly backupPath?: ((from: number) => string) | undefined;
  /** Default: those of this build. */
  readonly versions?: Migrations | undefined;
}

/** The versions before and after. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Applies every version that is missing, after `bootstrap` and while the lease is held. A database that is newer than this build is left
 * alone: `schema_mismatch`. Rejects with `DbError` when a version fails; it is then not applied at all.
 */
export async function migrate(db: Db, options: MigrateOptions): Promise<Result<Migrated>> {
  const versions = options.versions ?? migrations;
  const from = await schemaVersion(db);
  if (from === 0) return fail("schema_mismatch", "The database is empty; bootstrap it first");
  if (from > versions.length) {
    return fail(
      "schema_mismatch",
      `The database has schema ${from}, newer than this build's ${versions.length}: upgrade this program`,
    );
  }
  if (from < versions.length && options.backupPath) await backup(db, options.backupPath(from));
  for (let version = from + 1; version <= versions.length; version++) {
    await applyVersion(db, version, versions[version - 1] ?? [], options.lease);
  }
  return ok({ from, to: versions.length });
}

/** Writes a consistent copy of a `file:` database to `path`, which must not exist. Rejects with `DbError`. */
export async function backup(db: Db, path: string): Promise<void> {
  await db.query(sql("VACUUM INTO ?", path));
}

async function applyVersion(db: Db, version: number, texts: readonly string[], lease: Lease): Promise<void> {
  const guards: Statement[] = [
    ...guard(
      `EXISTS (SELECT 1 FROM leases WHERE name = ? AND holder = ? AND fence = ? AND expires_at > ${DB_NOW})`,
      lease.name,
      lease.holder,
      lease.fence,
    ),
    ...guard("(SELECT value FROM settings WHERE key = 'schema_version') = ?", String(version - 1)),
  ];
  const record = sql(
    `UPDATE settings SET value = ?, at = ${DB_NOW} WHERE key = 'schema_version'`,
    String(version),
  );
  try {
    await db.batch([...guards, ...texts.map((text) => sql(text)), record]);
  } catch (error) {
    // After a lost answer the version itself tells whether it was applied.
    if (await schemaVersion(db) < version) throw error;
  }
}
