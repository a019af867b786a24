/**
 * `deno task link`: prints a new one-time sign-in link for the owner, whether or not Callboard is running; the last one may be lost or too old. It
 * writes one row that the edge owns, through the edge's own way of making links. Proven by `tests/e2e/link_test.ts`.
 */
import { readConfig } from "./config.ts";
import { createApp } from "./edge/app.ts";
import { systemClock } from "./lib/clock.ts";
import { newId } from "./lib/ids.ts";
import { checkSchema } from "./store/migrate.ts";
import { openDb } from "./store/open.ts";

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
  const app = createApp({
    db,
    doorbell: () => {},
    clock: systemClock,
    newId,
    config: { publicUrl, port },
    log: () => {},
    version: "",
  });
  console.log(await app.printedLink(Deno.args[0]));
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
