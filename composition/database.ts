/**
 * From a URL to a store that this process alone may write: open, wait for the lease, bring the schema up to date, seed, and keep the lease.
 */
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../runtime/log.ts";
import { sql } from "../store/db.ts";
import { LEASE_TTL_MS, releaseLease, SUPERVISOR_LEASE, waitForLease } from "../store/lease.ts";
import { LeaseKeeper } from "../store/lease_keeper.ts";
import { bootstrap, migrate } from "../store/migrate.ts";
import { endBypasses, seed } from "../store/seeds.ts";
import { noteServing } from "../store/serving.ts";
import type { Store } from "../store/store.ts";
import { openStore } from "../store/worker_db.ts";
import type { Config } from "../config.ts";
import { zulipApprovers } from "./kinds.ts";

/** What opening needs. */
export interface DatabaseOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Told once when this process may write no more; it must end. */
  readonly onLost: (why: string) => void;
  readonly signal: AbortSignal;
  /** Told when another process holds the lease and this one has to wait. */
  readonly onWaiting: () => void;
}

/** A database that is ours until it is closed. */
export interface OwnedDatabase {
  readonly store: Store;
  /** Until when (monotonic milliseconds) no other process can hold the lease. */
  deadline(): number;
  /** Notes where the inbox is served, for `deno task link`. */
  serving(origin: string): Promise<void>;
  /** Gives the lease back, so that a successor need not wait for its end. */
  close(): Promise<void>;
}

/** Opens it. Waits for as long as another supervisor holds the lease; rejects with `DbError`, or the signal's reason. */
export async function openDatabase(
  { config, clock, log, onLost, signal, onWaiting }: DatabaseOptions,
): Promise<OwnedDatabase> {
  const store = await openStore({
    url: config.databaseUrl,
    ...(config.databaseToken === undefined ? {} : { authToken: config.databaseToken }),
    restricted: true,
  });
  store.onLost = (loss) => onLost(`the store lost ${loss}`);
  await bootstrap(store);
  const holder = `${Deno.hostname()} ${Deno.pid} ${crypto.randomUUID()}`;
  const lease = await waitForLease(store, { name: SUPERVISOR_LEASE, holder, ttlMs: LEASE_TTL_MS }, {
    clock,
    random: Math.random,
    signal,
    onWaiting: sayOnce((heldBy) => {
      onWaiting();
      log("info", "another supervisor holds the lease; waiting for it to end", {
        // Its host and process id, as it wrote them.
        heldBy: heldBy.split(" ").slice(0, 2).join(" pid "),
        database: config.databaseUrl.startsWith("file:") ? config.databaseUrl : "remote",
        advice: "this one is its standby now; stop one of them if you meant to run only one",
      });
    }),
  });
  const keeper = new LeaseKeeper(store, lease, { clock, onLost: (loss) => onLost(`the lease is ${loss}`) });
  const migrated = await migrate(store, {
    lease,
    ...(config.databaseUrl.startsWith("file:")
      ? { backupPath: (from: number) => `${config.dataDir}/backup-v${from}-${clock.now()}.db` }
      : {}),
  });
  if (!migrated.ok) throw new Error(`the database's schema: ${migrated.error.message}`);
  if (migrated.value.from !== migrated.value.to) {
    log("info", "schema brought up to date", { ...migrated.value });
  }
  store.setFence(lease);
  await seed(store, clock.now());
  await store.batch([...settings(config, clock.now()), ...endBypasses(clock.now())]);
  return {
    store,
    deadline: () => keeper.deadline,
    serving: async (origin) => void await store.batch([noteServing(origin, lease, clock.now())]),
    async close() {
      await keeper.stop();
      await releaseLease(store, lease).catch((error: unknown) =>
        log("warn", "the lease could not be given back", { cause: String(error) })
      );
      await store.close();
    },
  };
}

/** Calls `say` the first time only. */
function sayOnce(say: (heldBy: string) => void): (heldBy: string) => void {
  let said = false;
  return (heldBy) => {
    if (!said) say(heldBy);
    said = true;
  };
}

/** Configuration that actors read as rows. */
function settings(config: Config, now: number) {
  const put = (key: string, value: string) =>
    sql(
      `INSERT INTO settings (key, value, at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
      key,
      value,
      now,
    );
  return [put("default_model", config.model), put("zulip_approvers", JSON.stringify(zulipApprovers(config)))];
}
