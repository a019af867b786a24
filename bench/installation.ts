/**
 * The whole product for a measure: the real supervisor as the `supervisor` task starts it, on a data folder, with the rehearsal model and no Zulip, and
 * a signed-in person. Also fills a data folder with conversations that sleep.
 */
import { join } from "node:path";
import { build, bundles } from "../build.ts";
import type { ActorView, ConversationList, Item, ItemList, Me } from "../edge/api.ts";
import { type Db, sql } from "../store/db.ts";
import { openStore } from "../store/worker_db.ts";
import { startSupervisor, type SupervisorProcess } from "../tests/supervisor_process.ts";

const OWNER_TOKEN = "owner-token-for-benchmarks-0123456789";
const POLL_MS = 50;
const GIVE_UP_MS = 60_000;

/** A running installation. */
export class Installation {
  readonly supervisor: SupervisorProcess;
  #cookie = "";
  #csrf = "";

  private constructor(supervisor: SupervisorProcess) {
    this.supervisor = supervisor;
  }

  /** Starts it on `folder/data`; resolves when it serves and somebody is signed in. */
  static async start(folder: string, env: Readonly<Record<string, string>> = {}): Promise<Installation> {
    await build(bundles);
    const installation = new Installation(await startSupervisor(environment(folder, env)));
    installation.#cookie = await installation.signIn();
    installation.#csrf = (await installation.#get<Me>("/api/me")).csrf;
    return installation;
  }

  /** Says something in a new conversation, or in the one that is named. */
  async say(text: string, conversation?: string): Promise<void> {
    const path = conversation === undefined
      ? "/api/conversations"
      : `/api/conversations/${conversation}/messages`;
    await this.#post(path, { text }, 202);
  }

  /** The newest page of what waits. */
  async inbox(): Promise<ItemList> {
    return await this.#get<ItemList>("/api/inbox?state=waiting&limit=50");
  }

  /** Allows an item once, in the version that was shown. */
  async allow({ id, version }: Item): Promise<void> {
    await this.#post(`/api/inbox/${id}/decision`, { version, decision: "allow_once" }, 200);
  }

  /** Opens an event stream in a session that `signIn` gave. */
  async stream(cookie: string): Promise<ReadableStream<Uint8Array>> {
    const response = await fetch(`${this.supervisor.url}/api/stream`, { headers: { cookie } });
    if (response.status !== 200 || !response.body) throw new Error(`/api/stream: ${response.status}`);
    return response.body;
  }

  async conversations(): Promise<ConversationList["conversations"]> {
    return (await this.#get<ConversationList>("/api/conversations?limit=100")).conversations;
  }

  async actors(): Promise<ActorView[]> {
    return (await this.#get<{ actors: ActorView[] }>("/api/actors")).actors;
  }

  /** Resolves when so many conversations are live and nobody has work. */
  async settled(live: number): Promise<void> {
    const giveUp = performance.now() + GIVE_UP_MS;
    for (;;) {
      const actors = (await this.actors()).filter((actor) => actor.kind === "conversation");
      const states = actors.filter((actor) => actor.state === "live").length;
      const working = (await this.conversations()).some(({ status }) => status === "running");
      if (states === live && !working) return;
      if (performance.now() > giveUp) throw new Error(`${states} conversations are live and not ${live}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async stop(): Promise<void> {
    await this.supervisor.stop("SIGTERM");
  }

  /** A session of its own: its cookie. */
  async signIn(): Promise<string> {
    const response = await fetch(`${this.supervisor.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: OWNER_TOKEN }),
    });
    await response.body?.cancel();
    return response.headers.get("set-cookie")?.split(";")[0] ?? "";
  }

  async #post(path: string, body: unknown, expected: number): Promise<void> {
    const response = await fetch(this.supervisor.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", cookie: this.#cookie, "x-callboard-csrf": this.#csrf },
      body: JSON.stringify(body),
    });
    if (response.status !== expected) {
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    }
    await response.body?.cancel();
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(this.supervisor.url + path, { headers: { cookie: this.#cookie } });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  }
}

/** The environment of the supervisor on `folder`. */
export function environment(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { CALLBOARD_DATA: join(folder, "data"), OWNER_TOKEN, MODEL: "callboard/rehearsal", ...more };
}

/** Fills a data folder with conversations that had one turn and sleep; all are copies of one that really had it. */
export async function fillWithSleepers(folder: string, count: number): Promise<void> {
  const first = await Installation.start(folder, { IDLE_SECONDS: "1" });
  await first.say("hello");
  await first.settled(1);
  await first.settled(0);
  await first.stop();
  const store = await openStore({ url: `file:${join(folder, "data/callboard.db")}` });
  const source = (await store.query(sql("SELECT id FROM conversations"))).rows[0]?.[0];
  const copies: [table: string, key: string, prefix: string][] = [
    ["conversations", "id", ""],
    ["events", "actor", "conversation/"],
    ["actors", "ref", "conversation/"],
    ["downs", "ref", "conversation/"],
  ];
  for (const [table, key, prefix] of copies) {
    const rest = await columnsBut(store, table, key);
    await store.batch(Array.from({ length: count - 1 }, (_, index) =>
      sql(
        `INSERT INTO ${table} (${key}, ${rest}) SELECT ?, ${rest} FROM ${table} WHERE ${key} = ?`,
        `${prefix}sleeper-${index}`,
        `${prefix}${source}`,
      )));
  }
  await store.close();
}

/** The columns of a table except some, as a list in SQL. */
export async function columnsBut(store: Db, table: string, ...keys: string[]): Promise<string> {
  const { rows } = await store.query(sql("SELECT name FROM pragma_table_info(?)", table));
  return rows.flatMap(([name]) => typeof name === "string" && !keys.includes(name) ? [name] : []).join(", ");
}
