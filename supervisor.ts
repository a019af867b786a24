/**
 * The composition root: reads the configuration, takes the database's lease, starts the tree of actors and serves the edge application. It
 * holds no logic of its own and runs no code that a model can influence. SIGTERM and SIGINT stop everything in reverse order; a second one
 * ends at once. Proven by the end-to-end tests.
 */
import { fileURLToPath } from "node:url";
import { actorKinds, modelsConfig, workspacesOf } from "./composition/kinds.ts";
import { denoEnv, liveByMemory, telemetryEnv } from "./composition/machine.ts";
import { Orphans } from "./composition/orphans.ts";
import { stopOnSignals } from "./composition/signals.ts";
import { openDatabase, type OwnedDatabase } from "./composition/database.ts";
import { settleDeadLetter } from "./composition/dead_letters.ts";
import { EarlyHost } from "./composition/early_host.ts";
import { DiskWatch } from "./composition/watch/disk.ts";
import { freeBytes } from "./composition/watch/free_space.ts";
import { LiveFan } from "./composition/live.ts";
import { logOf, openLog } from "./composition/log.ts";
import { MemoryMeter, readPss } from "./composition/watch/memory_meter.ts";
import { runtimeFamilies } from "./composition/watch/metrics.ts";
import { tellNote } from "./composition/notes.ts";
import { openVapidKey, readVapidKey } from "./composition/push_key.ts";
import { modelRefusal } from "./composition/providers.ts";
import { unreadySingletons } from "./composition/watch/readiness.ts";
import { secretsOf } from "./composition/secrets.ts";
import { readsOf, vocabularyFor } from "./composition/vocabulary.ts";
import { publicKeyOf } from "./actors/push/vapid.ts";
import type { ActorRestart, DeadLetterSettle } from "./actors/protocol/conversation.ts";
import { type Config, readConfig } from "./config.ts";
import { createApp, type EdgeApp } from "./edge/app.ts";
import { verifyDoorbell } from "./edge/doorbell.ts";
import { serve, type Served } from "./edge/serve.ts";
import { folderUi } from "./edge/ui_files.ts";
import { systemClock } from "./lib/clock.ts";
import { newId } from "./lib/ids.ts";
import type { Envelope } from "./runtime/actor.ts";
import { openProcessLink } from "./runtime/link/process_link.ts";
import { pureHostSpec } from "./runtime/make_kernel.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "./runtime/runtime.ts";
import { activeTracer } from "./runtime/tracing.ts";
import { sql } from "./store/db.ts";
import { loads } from "./store/loads.ts";
import { opStatements } from "./store/ops.ts";
import type { Store } from "./store/store.ts";

const VERSION = "0.1.0";
const STOP_GRACE_MS = 5_000;
/** A process that nobody needs ends after so many times the idle time of a conversation. */
const REST_IDLES = 10;
/** What a killed supervisor left has this long to end by itself. */
const ORPHANS_MS = 5_000;
const SUSPEND = {
  to: "approval",
  type: "approval.policy",
  payload: {
    by: { surface: "system", name: "SIGUSR1", role: "owner" },
    command: { kind: "effects.suspend" },
  },
} as const;
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

if (import.meta.main) await main();

async function main(): Promise<void> {
  const config = configure();
  await openLog({
    secrets: secretsOf(config),
    level: "info",
    json: !Deno.stderr.isTerminal(),
    write: (line) => console.error(line),
  });
  const log = logOf("supervisor");
  const stopping = new AbortController();
  const stopped = stopOnSignals(stopping);
  try {
    await Deno.mkdir(workspacesOf(config), { recursive: true, mode: 0o700 });
    const orphans = new Orphans({
      file: `${config.dataDir}/tree.json`,
      pid: Deno.pid,
      log: logOf("supervisor"),
    });
    const children = { denoConfig: path("deno.json"), childEnv: { ...denoEnv(), ...orphans.env } };
    const kinds = actorKinds(config, inboxUrlOf(config));
    const early = new EarlyHost(openProcessLink, pureHostSpec({ ...children, kinds }));
    const database = await openDatabase({
      config,
      clock: systemClock,
      log: logOf("store"),
      // Whoever holds the lease now may be writing: nothing is tidied up here.
      onLost: (why) => {
        log("error", "ending at once", { why });
        Deno.exit(75);
      },
      signal: stopping.signal,
      // A standby may wait for days.
      onWaiting: () => early.close(),
    });
    await orphans.note();
    const board = await early.during(open(config, database, { ...children, openLink: early.openLink })).catch(
      async (error) => {
        // The next start must not have to wait for a lease that nobody uses.
        await database.close();
        throw error;
      },
    );
    const cancel = systemClock.after(ORPHANS_MS, () => void orphans.end());
    await stopped;
    cancel();
    log("info", "stopping");
    board.disk.stop();
    await board.served.close();
    await board.runtime.stop({ graceMs: STOP_GRACE_MS });
    await orphans.close();
    await board.app.close();
    await database.close();
    // A stuck Worker or socket must not keep the process.
    Deno.exit(0);
  } catch (error) {
    if (stopping.signal.aborted) Deno.exit(0);
    console.error(`Callboard cannot start: ${startProblem(error, config)}`);
    Deno.exit(1);
  }
}

/** Why it did not start, and what to do. */
function startProblem(error: unknown, config: Config): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return `port ${config.port} is in use: stop the other program, or set PORT to a free one`;
  }
  if (
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory
  ) {
    return `"${config.dataDir}" cannot be used: make the folder, or set CALLBOARD_DATA to one that can be written (${error.message})`;
  }
  return error instanceof Error ? error.message : String(error);
}

interface Board {
  readonly runtime: Runtime;
  readonly app: EdgeApp;
  readonly served: Served;
  readonly disk: DiskWatch;
}

/** Builds everything on an owned database and starts it. */
async function open(
  config: Config,
  database: OwnedDatabase,
  children: Pick<RuntimeOptions, "denoConfig" | "childEnv" | "openLink">,
): Promise<Board> {
  const { store } = database;
  const live = new LiveFan();
  const running = Promise.withResolvers<void>();
  const memory = new MemoryMeter({ clock: systemClock, read: readPss });
  const vapidKey = config.vapidKey === undefined
    ? await openVapidKey(config.dataDir)
    : readVapidKey(config.vapidKey, "VAPID_KEY");
  const kinds = actorKinds(config, inboxUrlOf(config), {
    gatewayEnv: telemetryEnv(),
    knowsTools: await knowsTools(store),
    vapidKey,
  });
  const runtime = createRuntime({
    store,
    vocabulary: vocabularyFor(kinds.map(({ kind }) => kind)),
    opStatements,
    runRead: readsOf(store),
    loads,
    kinds,
    clock: systemClock,
    newId,
    random: Math.random,
    log: logOf("runtime"),
    limits: {
      idleMs: config.idleMs,
      restMs: REST_IDLES * config.idleMs,
      maxLive: config.maxLive ?? liveByMemory(),
    },
    ...children,
    leaseMs: () => database.deadline() - systemClock.monotonic(),
    onEdge: (message) => (message.durable ? app.notify() : live.take(message)),
    onNote: (note) =>
      tellNote(note, {
        log: logOf("runtime"),
        zulip: config.zulip !== undefined,
        // A message that is held from the start is told of when there is somebody to tell.
        send: (send) => void running.promise.then(() => runtime.send(send)),
      }),
    onSupervisor: (message) => obey(message, runtime, store),
    tracer: activeTracer(),
  });
  const disk = new DiskWatch({
    clock: systemClock,
    log: logOf("disk"),
    freeBytes: () => freeBytes(config.dataDir),
    hold: (hold) => runtime.hold(hold),
  });
  const app = createApp({
    db: store,
    doorbell: () => runtime.poke(),
    clock: systemClock,
    newId,
    config: {
      publicUrl: config.publicUrl,
      port: config.port,
      ownerToken: config.ownerToken,
      zulipWebhookToken: config.zulipWebhookToken,
      pushKey: publicKeyOf(vapidKey),
      pushTestOrigin: config.pushTestOrigin,
      realm: config.zulip && new URL(config.zulip.site).origin,
    },
    log: logOf("edge"),
    version: VERSION,
    actors: () => memory.annotate(runtime.actors()),
    metrics: () => runtimeFamilies(runtime.actors(), runtime.stats()),
    unready: () => [...unreadySingletons(runtime.actors()), ...disk.notices()],
    live: (listener) => live.listen(listener),
    modelRefusal: modelRefusal(modelsConfig(config), config.model),
    ui: await folderUi(path("build/ui")),
  });
  await disk.start();
  await runtime.start();
  running.resolve();
  // The emergency brake for whoever has only a shell: durable, and lifted by the owner.
  Deno.addSignalListener("SIGUSR1", () => void runtime.send(SUSPEND));
  // The rows were written before: streams look for what is new in the feed.
  runtime.onChange(() => app.notify());
  await app.start();
  const served = serve(app, {
    host: config.host,
    port: config.port,
    publicUrl: config.publicUrl,
    before: (request) => doorbell(config, runtime, request),
  });
  await database.serving(config.publicUrl ?? served.url);
  await greet(config, app, served);
  return { runtime, app, served, disk };
}

/** Carries out a command to the supervisor. A throw is answered to its sender. */
async function obey({ type, payload }: Envelope, runtime: Runtime, store: Store): Promise<void> {
  switch (type) {
    case "actor.restart": {
      const { ref } = payload as ActorRestart; // parsed against the catalogue
      if (!runtime.restart(ref)) throw new RangeError(`there is no actor "${ref}"`);
      if (ref.startsWith("conversation/")) {
        const conversation = ref.slice("conversation/".length);
        await runtime.send({ to: "approval", type: "restart.done", payload: { conversation } });
      }
      return;
    }
    case "dead_letter.settle":
      // As above.
      await settleDeadLetter(payload as DeadLetterSettle, { store, now: systemClock.now(), newId });
      return runtime.poke();
    default:
      throw new TypeError(`the supervisor does not know "${type}"`);
  }
}

/** The remote edge's bell: signed, and it says only that there are new rows. */
async function doorbell(config: Config, runtime: Runtime, request: Request): Promise<Response | undefined> {
  if (new URL(request.url).pathname !== "/doorbell" || config.doorbellSecret === undefined) return undefined;
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const refs = await verifyDoorbell(config.doorbellSecret, request, systemClock.now());
  if (!refs) return new Response(null, { status: 403 });
  runtime.poke();
  return new Response(null, { status: 204 });
}

/** Says where to go. With an `OWNER_TOKEN` the owner has a way in already, and no link is printed. */
async function greet(config: Config, app: EdgeApp, served: Served): Promise<void> {
  const origin = config.publicUrl ?? served.url;
  const link = await app.printedLink(served.url);
  console.log("");
  console.log("  Callboard is running.");
  console.log(`  Inbox:  ${config.ownerToken === undefined ? link : `${origin}/`}`);
  if (config.ownerToken === undefined) {
    console.log("          (a one-time sign-in link, good for 15 minutes)");
  }
  console.log(`  Model:  ${config.model}`);
  console.log(`  Zulip:  ${config.zulip ? config.zulip.site : "not configured"}`);
  console.log("");
}

function configure(): Config {
  const result = readConfig({ env: (name) => Deno.env.get(name), readText, cwd: Deno.cwd() });
  if (result.ok) return result.value;
  console.error(`Callboard cannot start with this configuration:\n${result.error.message}`);
  Deno.exit(78);
}

function readText(file: string): string | undefined {
  try {
    return Deno.readTextFileSync(file);
  } catch {
    return undefined;
  }
}

function inboxUrlOf(config: Config): string {
  return config.publicUrl ?? `http://localhost:${config.port}`;
}

async function knowsTools(store: Store): Promise<boolean> {
  const { rows } = await store.query(sql("SELECT 1 FROM known_tools WHERE available = 1 LIMIT 1"));
  return rows.length > 0;
}
