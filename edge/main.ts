/**
 * Entry for Deno Deploy: the inbox and the webhook over a remote libSQL database, while the actors run elsewhere. Uses nothing unstable. The
 * environment is read here and nowhere else in `edge/`. Proven by `edge/serve_test.ts`.
 */
import * as z from "zod";
import { systemClock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { openWebDb } from "../store/web_db.ts";
import { createApp } from "./app.ts";
import type { Log } from "./deps.ts";
import { remoteDoorbell } from "./doorbell.ts";
import { OWNER_TOKEN_LENGTH } from "./secrets.ts";
import { folderUi } from "./ui_files.ts";

const optional = z.string().min(1).optional();

/** What the entry reads. `OWNER_TOKEN` is how one signs in: there is no terminal to print a link in. */
const Environment = z.object({
  LIBSQL_URL: z.string().regex(/^(libsql|https):\/\//, "must begin with libsql:// or https://"),
  LIBSQL_AUTH_TOKEN: optional,
  PUBLIC_URL: z.url(),
  OWNER_TOKEN: z.string().min(OWNER_TOKEN_LENGTH),
  ZULIP_SITE: z.url().optional(),
  ZULIP_WEBHOOK_TOKEN: optional,
  VAPID_PUBLIC_KEY: z.string().regex(
    /^B[A-Za-z0-9_-]{86}$/,
    "must be what the supervisor's page gives at /api/push",
  )
    .optional(),
  DOORBELL_URL: z.url({ protocol: /^https$/ }).optional(),
  DOORBELL_SECRET: optional,
});
type Environment = z.infer<typeof Environment>;

/** Reads the environment. Throws `TypeError` that names the variables, never their values. */
export function readEnvironment(env: Readonly<Record<string, string>>): Environment {
  const parsed = Environment.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new TypeError(`The environment is not complete: ${problems.join("; ")}`);
}

const log: Log = (level, text, facts) => {
  const line = JSON.stringify({ at: new Date().toISOString(), level, text, ...facts });
  if (level === "error" || level === "warn") console.error(line);
  else console.log(line);
};

async function main(): Promise<void> {
  const env = readEnvironment(Deno.env.toObject());
  const db = await openWebDb({ url: env.LIBSQL_URL, authToken: env.LIBSQL_AUTH_TOKEN });
  const { DOORBELL_URL: url, DOORBELL_SECRET: secret } = env;
  const doorbell = url !== undefined && secret !== undefined
    ? remoteDoorbell({ url, secret, fetch, clock: systemClock, log })
    : undefined;
  const app = createApp({
    db,
    doorbell: (refs) => doorbell?.ring(refs),
    clock: systemClock,
    newId,
    config: {
      publicUrl: env.PUBLIC_URL,
      port: 443,
      ownerToken: env.OWNER_TOKEN,
      zulipWebhookToken: env.ZULIP_WEBHOOK_TOKEN,
      realm: env.ZULIP_SITE,
      pushKey: env.VAPID_PUBLIC_KEY,
    },
    log,
    version: "0.1.0",
    ui: await folderUi(new URL("../build/ui", import.meta.url).pathname),
  });
  const server = Deno.serve((request, info) =>
    app.fetch(request, "hostname" in info.remoteAddr ? info.remoteAddr.hostname : undefined)
  );
  Deno.addSignalListener("SIGINT", async () => {
    const stopped = server.shutdown();
    await app.close();
    await stopped;
    await doorbell?.idle();
    await db.close();
    Deno.exit(0);
  });
}

if (import.meta.main) await main();
