/** The counter as a Durable Object with a mailbox of rows. Runs in workerd only. */
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  #count;

  constructor(ctx, env) {
    super(ctx, env);
    const { sql } = ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, count INTEGER NOT NULL)");
    sql.exec("CREATE TABLE IF NOT EXISTS mailbox (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)");
    this.#count = sql.exec("SELECT count FROM state").toArray()[0]?.count ?? 0;
  }

  async fetch() {
    const { storage } = this.ctx;
    const { id } = storage.sql.exec("INSERT INTO mailbox (body) VALUES ('{}') RETURNING id").one();
    await storage.sync();
    const count = storage.transactionSync(() => {
      const next = ++this.#count;
      storage.sql.exec(
        "INSERT INTO state (id, count) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET count = excluded.count",
        next,
      );
      storage.sql.exec("DELETE FROM mailbox WHERE id = ?", id);
      return next;
    });
    return new Response(String(count));
  }
}

export default {
  fetch(request, env) {
    const [, verb, name] = new URL(request.url).pathname.split("/");
    if (verb === "health") return new Response("ok");
    return env.COUNTER.get(env.COUNTER.idFromName(name)).fetch(request);
  },
};
