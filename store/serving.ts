/**
 * Where the inbox is served now, for a program beside the supervisor that must name its address. The row carries the fence of the lease under which it
 * was written and counts only as long as that lease is held, so a supervisor that was killed is not named for longer than its lease lives.
 * Proven by `store/serving_test.ts`.
 */
import { type Db, objects, sql, type Statement } from "./db.ts";
import { DB_NOW, type Lease, SUPERVISOR_LEASE } from "./lease.ts";

const KEY = "serving";

/** Notes the origin at which the holder of the lease serves. */
export function noteServing(origin: string, { fence }: Pick<Lease, "fence">, now: number): Statement {
  return sql(
    `INSERT INTO settings (key, value, at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
    KEY,
    JSON.stringify({ origin, fence }),
    now,
  );
}

/** The origin at which a supervisor serves; undefined when none does. Rejects with `DbError`. */
export async function readServing(db: Db): Promise<string | undefined> {
  const rows = objects<{ origin: string }>(
    await db.query(sql(
      `SELECT settings.value ->> 'origin' AS origin FROM settings JOIN leases ON leases.name = ? AND leases.expires_at > ${DB_NOW}
       WHERE settings.key = ? AND settings.value ->> 'fence' = leases.fence`,
      SUPERVISOR_LEASE,
      KEY,
    )),
  );
  return rows[0]?.origin;
}
