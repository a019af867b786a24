/**
 * The push gateway over a real database file and a fake push service, with people who have browsers and an item that waits. Messages are handed over
 * one by one, and what the gateway gives back is committed as the runtime would.
 */
import { createPushGateway } from "../../actors/push/gateway.ts";
import type { PushConfig } from "../../actors/push/config.ts";
import { publicKeyOf } from "../../actors/push/vapid.ts";
import type { Gateway, Send } from "../../runtime/actor.ts";
import { type Db, objects, sql, type SqlValue } from "../../store/db.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { makeVapidKey } from "../../composition/push_key.ts";
import { FakePush } from "./fake_push/fake_push.ts";
import { GatewayContextDouble } from "./gateway_context.ts";

/** Long after every test. */
const LATER = 4_000_000_000_000;

/** See the file's comment. Dispose of it with `await using`. */
export class PushBench {
  now = Date.now();

  private constructor(
    readonly db: Db,
    readonly folder: string,
    readonly service: FakePush,
    readonly context: GatewayContextDouble,
    readonly gateway: Gateway,
  ) {}

  static async open(): Promise<PushBench> {
    const folder = await Deno.makeTempDir({ prefix: "callboard-push-" });
    const db = await openDb({ url: `file:${folder}/push.db` });
    await bootstrap(db);
    const key = await makeVapidKey();
    const service = new FakePush(() => publicKeyOf(key));
    const config: PushConfig = { key, contact: "mailto:owner@example.org", testOrigin: service.origin };
    const context = new GatewayContextDouble("push", db, config);
    const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const gateway = createPushGateway({
      clock: { now: () => bench.now, after: () => () => {} },
      random: () => 1,
      fetch: (input, init) => {
        const withClient: RequestInit & { client: Deno.HttpClient } = { ...init, client };
        return fetch(input, withClient);
      },
      close: () => client.close(),
    });
    const bench = new PushBench(db, folder, service, context, gateway);
    await gateway.start(context);
    await bench.run(
      `INSERT INTO conversations (id, title, source, profile, status, created_at, updated_at)
       VALUES ('c1', 'Deploy the site', 'web', 'default', 'waiting', 1, 1)`,
    );
    await bench.run(
      `INSERT INTO pending_items (id, kind, state, version, conversation, tool, arguments, risk, created_at, updated_at, expires_at)
       VALUES ('i1', 'approval', 'waiting', 1, 'c1', 'exec_command', '{"command":"the-secret-command"}', 'high', 1, 1, ?)`,
      bench.now + 600_000,
    );
    return bench;
  }

  /** A person with a signed-in browser that takes messages; the three ids are `name`. */
  async person(name: string): Promise<void> {
    const { endpoint, keys } = await this.service.subscribe(name);
    await this.run("INSERT INTO users VALUES (?, ?, 'owner', NULL, 1, 1)", name, name);
    await this.run(
      "INSERT INTO devices (id, user_id, name, created_at, seen_at) VALUES (?, ?, ?, 1, 1)",
      name,
      name,
      name,
    );
    await this.run(
      `INSERT INTO sessions (hash, user_id, device_id, csrf, created_at, authenticated_at, seen_at, expires_at)
       VALUES (?, ?, ?, 'csrf', 1, 1, 1, ?)`,
      `hash-${name}`,
      name,
      name,
      LATER,
    );
    await this.run(
      "INSERT INTO push_subscriptions (id, device_id, endpoint, p256dh, auth, created_at) VALUES (?, ?, ?, ?, ?, 1)",
      name,
      name,
      endpoint,
      keys.p256dh,
      keys.auth,
    );
  }

  /** Hands a message over and commits what comes of it. Gives the messages that this sent. */
  async handle(type: string, payload: unknown, { resumed = false } = {}): Promise<readonly Send[]> {
    const before = this.context.sent.length;
    const effects = await this.gateway.handle(this.context.delivery({ type, payload }, resumed));
    const committed = await this.context.commit(effects ?? {});
    if (!committed.ok) throw new Error(committed.error.message);
    return this.context.sent.slice(before);
  }

  /** Says whom the item waits for, and delivers to their browsers. Gives what the deliveries sent. */
  async tell(
    userIds: readonly string[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<readonly Send[]> {
    const item = { conversation: "c1", itemId: "i1", version: 1, key: "asked/i1/1" };
    return await this.#through("push.item", { ...item, userIds, ...more });
  }

  /** Says that the item is over, and delivers that. */
  async settle(): Promise<readonly Send[]> {
    return await this.#through("push.settled", { conversation: "c1", itemId: "i1", version: 2 });
  }

  async #through(type: string, payload: unknown): Promise<readonly Send[]> {
    const sends: Send[] = [];
    for (const delivery of await this.handle(type, payload)) {
      sends.push(...await this.handle(delivery.type, delivery.payload));
    }
    return sends;
  }

  async run(text: string, ...args: SqlValue[]): Promise<void> {
    await this.db.batch([sql(text, ...args)]);
  }

  async rows(text: string): Promise<unknown[]> {
    return objects(await this.db.query(sql(text)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.stop?.();
    await this.service.close();
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}
