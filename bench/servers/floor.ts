/**
 * The floor: how fast a durable mailbox can be on this machine with nothing of the product around it. One Worker an actor in the server's own
 * process, the database on the server's own loop, group commit, up to 64 messages a dispatch. `deno run -A floor.ts FOLDER libsql|sqlite`;
 * speaks `POST /ask/NAME` and `/health` like `callboard.ts`. No supervision, no processes, no reply row, no fence.
 */
import { createClient } from "@libsql/client";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";

const MAX_DISPATCH = 64;
const INSERT = "INSERT INTO mailbox (id, actor, done) VALUES (?, ?, 0)";
const STATE =
  "INSERT INTO state (actor, count) VALUES (?, ?) ON CONFLICT (actor) DO UPDATE SET count = excluded.count";
const DONE = "UPDATE mailbox SET done = 1 WHERE id = ?";
const SCHEMA = [
  "CREATE TABLE mailbox (id INTEGER PRIMARY KEY, actor TEXT NOT NULL, done INTEGER NOT NULL) STRICT",
  "CREATE INDEX open ON mailbox (id) WHERE done = 0",
  "CREATE TABLE state (actor TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

type Write = readonly [text: string, ...args: (string | number)[]];
type Commit = (writes: readonly Write[]) => Promise<void> | void;

interface Question {
  readonly id: number;
  readonly answer: (count: number) => void;
}

const [folder = "", engine] = Deno.args;
const commit = engine === "libsql" ? await openLibsql() : openSqlite();
let waiting: { writes: readonly Write[]; then: () => void }[] = [];
let committing = false;
let lastId = 0;
const actors = new Map<string, Actor>();

async function openLibsql(): Promise<Commit> {
  const client = createClient({ url: `file:${folder}/floor.db`, timeout: 5_000, concurrency: 1 });
  for (const text of ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", ...SCHEMA]) {
    await client.execute(text);
  }
  const bind = (value: string | number) => typeof value === "number" ? BigInt(value) : value;
  return async (writes) => {
    await client.batch(writes.map(([text, ...args]) => ({ sql: text, args: args.map(bind) })), "write");
  };
}

function openSqlite(): Commit {
  const db = new DatabaseSync(`${folder}/floor.db`);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${SCHEMA.join(";")}`);
  const prepared = new Map([INSERT, STATE, DONE].map((text) => [text, db.prepare(text)]));
  return (writes) => {
    db.exec("BEGIN IMMEDIATE");
    for (const [text, ...args] of writes) prepared.get(text)?.run(...args);
    db.exec("COMMIT");
  };
}

/** Everything that waits becomes one commit. */
function write(writes: readonly Write[], then: () => void): void {
  waiting.push({ writes, then });
  if (committing) return;
  committing = true;
  setImmediate(flush);
}

async function flush(): Promise<void> {
  const group = waiting;
  waiting = [];
  await commit(group.flatMap((member) => member.writes));
  for (const { then } of group) then();
  if (waiting.length > 0) setImmediate(flush);
  else committing = false;
}

class Actor {
  readonly #name: string;
  readonly #worker = new Worker(new URL("./floor_worker.ts", import.meta.url), { type: "module" });
  readonly #queue: Question[] = [];
  #inHand: Question[] = [];

  constructor(name: string) {
    this.#name = name;
    this.#worker.onmessage = (event: MessageEvent<number[]>) => this.#finish(event.data);
  }

  add(question: Question): void {
    this.#queue.push(question);
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#inHand.length > 0 || this.#queue.length === 0) return;
    this.#inHand = this.#queue.splice(0, MAX_DISPATCH);
    this.#worker.postMessage(this.#inHand.length);
  }

  #finish(counts: readonly number[]): void {
    const done: Write[] = this.#inHand.map(({ id }) => [DONE, id]);
    write([[STATE, this.#name, counts.at(-1) ?? 0], ...done], () => {
      const answered = this.#inHand;
      this.#inHand = [];
      answered.forEach(({ answer }, index) => answer(counts[index] ?? 0));
      this.#dispatch();
    });
  }
}

function ask(name: string): Promise<number> {
  return new Promise((answer) => {
    const id = ++lastId;
    write([[INSERT, id, name]], () => {
      let actor = actors.get(name);
      if (!actor) actors.set(name, actor = new Actor(name));
      actor.add({ id, answer });
    });
  });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(JSON.stringify({ port })),
}, async (request) => {
  const [, verb, name = ""] = new URL(request.url).pathname.split("/");
  return verb === "ask" ? new Response(String(await ask(name))) : new Response("ok");
});
