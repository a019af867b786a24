/**
 * Whether new effects are suspended ("stop everything"), and by whom. Written by approval; here it is read for people.
 * Proven by `edge/policy_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";

/** The row's JSON text, or undefined while nothing is suspended. Rejects with `DbError`. */
export async function suspension(db: Db): Promise<string | undefined> {
  const rows = await db.query(sql("SELECT value FROM settings WHERE key = 'suspended'"));
  return objects<{ value: string }>(rows)[0]?.value;
}

/** How the gate treats what waits, as JSON text; undefined when nobody changed it. Rejects with `DbError`. */
export async function gateSettings(db: Db): Promise<string | undefined> {
  const rows = await db.query(sql("SELECT value FROM settings WHERE key = 'gate'"));
  return objects<{ value: string }>(rows)[0]?.value;
}
