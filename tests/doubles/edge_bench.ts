/**
 * The edge over a real database file, with a hand-driven clock, numbered ids and secrets, and clients that behave like a browser of ours.
 */
import type { ActorView } from "../../edge/api.ts";
import { createApp, type EdgeApp } from "../../edge/app.ts";
import type { EdgeConfig, EdgeDeps, LiveDelta } from "../../edge/deps.ts";
import { hashOf } from "../../edge/secrets.ts";
import { memoryUi } from "../../edge/ui_files.ts";
import { type Db, objects, sql, type SqlValue } from "../../store/db.ts";
import { DB_NOW } from "../../store/lease.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { FakeClock } from "./fake_clock.ts";

/** The `OWNER_TOKEN` of the bench. */
export const OWNER_TOKEN = "owner-token-of-the-bench-0123456789abcdef";

/** The webhook's token. */
export const WEBHOOK_TOKEN = "webhook-token-of-the-bench";

/** The realm, as an operator writes it. */
export const REALM = "https://zulip.example.org/";

/** The channel in which entitled people of the bench may act. */
export const CHANNEL = 7;

/** What a test may set differently. */
export interface BenchOptions {
  readonly config?: Partial<EdgeConfig>;
  readonly deps?: Partial<EdgeDeps>;
}

/** A signed-in browser. */
export class Client {
  constructor(readonly bench: Bench, readonly cookie: string, readonly csrf: string) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.bench.app.request(path, { headers: { cookie: this.cookie, ...headers } });
  }

  /** A state-changing request as the UI makes it. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.bench.app.request(path, {
      method,
      headers: {
        cookie: this.cookie,
        origin: "http://localhost",
        "sec-fetch-site": "same-origin",
        "x-callboard-csrf": this.csrf,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  post(path: string, body: unknown = {}): Promise<Response> {
    return this.send("POST", path, body);
  }
}

/** See the file's comment. Close it at the end of each test. */
export class Bench {
  readonly clock = new FakeClock(Date.UTC(2026, 10, 30));
  readonly rung: string[] = [];
  readonly logged: string[] = [];
  readonly listeners = new Set<(delta: LiveDelta) => void>();
  actors: ActorView[] | undefined;
  #ids = 0;
  #secrets = 0;

  private constructor(readonly db: Db, readonly folder: string) {}

  // Set at once by `open`, the only maker.
  app!: EdgeApp;

  /** Opens an empty database with the schema of this build and builds the application over it. */
  static async open(options: BenchOptions = {}): Promise<Bench> {
    const folder = await Deno.makeTempDir({ prefix: "callboard-edge-" });
    const db = await openDb({ url: `file:${folder}/edge.db` });
    await bootstrap(db);
    const bench = new Bench(db, folder);
    bench.app = createApp(bench.deps(options));
    return bench;
  }

  /** The dependencies of a further instance over the same database. */
  deps({ config, deps }: BenchOptions = {}): EdgeDeps {
    return {
      db: this.db,
      doorbell: (refs) => void this.rung.push(...refs),
      clock: this.clock,
      newId: () => `id-${String(++this.#ids).padStart(6, "0")}`,
      randomBytes: (length) => new Uint8Array(length).fill(++this.#secrets),
      config: {
        port: 8787,
        ownerToken: OWNER_TOKEN,
        zulipWebhookToken: WEBHOOK_TOKEN,
        realm: REALM,
        ...config,
      },
      log: (level, text, facts) => void this.logged.push(JSON.stringify({ level, text, ...facts })),
      version: "test",
      live: (listener) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
      ui: memoryUi({
        "/index.html": "<!doctype html><title>Callboard</title>",
        "/app-ABCDEFGH.js": "export {};",
      }),
      ...deps,
    };
  }

  /** Signs in with a token as a page of ours does. */
  signIn(token: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.app.request("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json", origin: "http://localhost", ...headers },
      body: JSON.stringify({ token }),
    });
  }

  /** A client with the cookie that this answer set. */
  async clientOf(signedIn: Response): Promise<Client> {
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const me = await this.app.request("/api/me", { headers: { cookie } });
    const { csrf = "" } = await me.json();
    return new Client(this, cookie, csrf);
  }

  /** The owner, signed in. */
  async owner(): Promise<Client> {
    return await this.#enter(OWNER_TOKEN);
  }

  /** Somebody with a role and access to `CHANNEL`, signed in by a one-time token. */
  async person(role: "approver" | "viewer", access: "view" | "approve" = "approve"): Promise<Client> {
    const id = `${role}-${access}`;
    const secret = `${id}-token-0123456789`;
    await this.run("INSERT INTO users VALUES (?, ?, ?, NULL, 1, 1) ON CONFLICT DO NOTHING", id, id, role);
    await this.run(
      "INSERT INTO entitlements VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING",
      id,
      CHANNEL,
      access,
    );
    await this.loginToken(id, secret);
    return await this.#enter(secret);
  }

  /** A one-time token, as a link carries it. */
  async loginToken(userId: string, secret: string): Promise<void> {
    const expires = this.clock.now() + 60_000;
    await this.run("INSERT INTO login_tokens VALUES (?, ?, 1, ?, NULL)", hashOf(secret), userId, expires);
  }

  /** Signs in, and takes the news of it out of approval's mailbox as approval would. */
  async #enter(token: string): Promise<Client> {
    const client = await this.clientOf(await this.signIn(token));
    await this.run("DELETE FROM messages WHERE type = 'people.known'");
    this.rung.splice(0);
    return client;
  }

  /** Runs one writing statement. */
  async run(text: string, ...args: SqlValue[]): Promise<void> {
    await this.db.batch([sql(text, ...args)]);
  }

  /** Runs one query. */
  async rows<T>(text: string, ...args: SqlValue[]): Promise<T[]> {
    return objects<T>(await this.db.query(sql(text, ...args)));
  }

  /** A conversation row; `channelId` null makes a web chat. */
  async conversation(id: string, channelId: number | null = CHANNEL): Promise<void> {
    await this.run(
      `INSERT INTO conversations (id, title, source, channel_id, profile, status, created_at, updated_at)
       VALUES (?, ?, ?, ?, 'default', 'idle', 1, 1)`,
      id,
      `Title of ${id}`,
      channelId === null ? "web" : "channel",
      channelId,
    );
  }

  /** A waiting approval in a conversation. */
  async item(id: string, conversation: string): Promise<void> {
    await this.run(
      `INSERT INTO pending_items (id, kind, state, version, conversation, tool, arguments, risk, created_at, updated_at)
       VALUES (?, 'approval', 'waiting', 1, ?, 'exec_command', '{"command":"ls"}', 'medium', 1, 1)`,
      id,
      conversation,
    );
  }

  /** A supervisor that is at work. */
  async lease(): Promise<void> {
    await this.run(`INSERT INTO leases VALUES ('supervisor', 'bench', 1, ${DB_NOW} + 3600000)`);
  }

  /** Announces a change in the feed, as a commit would. */
  async announce(kind: string, ref: string, version = 1): Promise<void> {
    await this.run("INSERT INTO feed (kind, ref, version, at) VALUES (?, ?, ?, 1)", kind, ref, version);
    this.app.notify();
  }

  /** Gives a live delta to everybody who listens. */
  live(delta: LiveDelta): void {
    for (const listener of this.listeners) listener(delta);
  }

  /** Ends the application and the database. */
  async close(): Promise<void> {
    await this.app.close();
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Runs a test with a bench and closes it. */
export async function withBench(
  test: (bench: Bench) => Promise<void>,
  options: BenchOptions = {},
): Promise<void> {
  const bench = await Bench.open(options);
  try {
    await test(bench);
  } finally {
    await bench.close();
  }
}
