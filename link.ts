/**
 * `deno task link`: prints a new one-time sign-in link for the owner, whether or not Callboard is running; the last one may be lost or too old. It
 * writes one row that the edge owns, through the edge's own way of making links, and names the address at which the running supervisor serves. An
 * argument names another one. Proven by `tests/e2e/link_test.ts`.
 */
import { readConfig } from "./config.ts";
import { createApp } from "./edge/app.ts";
import { systemClock } from "./lib/clock.ts";
import { newId } from "./lib/ids.ts";
import { checkSchema } from "./store/migrate.ts";
import { openDb } from "./store/open.ts";
import { readServing } from "./store/serving.ts";

if (import.meta.main) {
  const config = readConfig({ env: (name) => Deno.env.get(name), readText, cwd: Deno.cwd() });
  if (!config.ok) fail(config.error.message);
  const { databaseUrl, databaseToken, publicUrl, port } = config.value;
  if (databaseUrl.startsWith("file:") && readText(new URL(databaseUrl).pathname) === undefined) {
    fail(
      `there is no database at ${databaseUrl}: start Callboard once, or set CALLBOARD_DATA to its data folder`,
    );
  }
  const db = await openDb({ url: databaseUrl, authToken: databaseToken });
  const schema = await checkSchema(db);
  if (!schema.ok) fail(schema.error.message);
  // What this shell is configured with need not be what the running supervisor was started with.
  const serving = await readServing(db);
  const app = createApp({
    db,
    doorbell: () => {},
    clock: systemClock,
    newId,
    config: { publicUrl: serving === undefined ? publicUrl : undefined, port },
    log: () => {},
    version: "",
  });
  const origin = Deno.args[0] ?? serving;
  console.log(await app.printedLink(origin));
  if (serving === undefined) {
    console.error(
      "Callboard is not running on this database. The link works once it runs, for 15 minutes from now, and at this address only if it is started with the same PORT and PUBLIC_URL.",
    );
  }
  await app.close();
  await db.close();
}

function fail(text: string): never {
  console.error(`No link: ${text}`);
  Deno.exit(1);
}

/** Undefined when it cannot be read. */
function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
