/**
 * The product's runtime as the supervisor makes it (store in a Worker, lease and fence, host processes), with one kind of actor, the counter, under a
 * small vocabulary. Questions are durable messages; `ask` resolves with the actor's answer.
 */
import { join } from "node:path";
import { build, root, workerBundle } from "../build.ts";
import { systemClock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { fail, ok } from "../lib/result.ts";
import type { Envelope, Send } from "../runtime/actor.ts";
import type { Limits } from "../runtime/limits.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import type { Vocabulary } from "../runtime/vocabulary.ts";
import { sql } from "../store/db.ts";
import { acquireLease, SUPERVISOR_LEASE } from "../store/lease.ts";
import { statements as schema } from "../store/migrations/0001_init.ts";
import type { Store } from "../store/store.ts";
import { openStore } from "../store/worker_db.ts";

/** What an actor answered. */
export interface Answer {
  readonly token: number;
  readonly count: number;
  readonly lateMs?: number;
}

const ephemeral = ["bench.said", "bench.ping", "actor.woke"];

const vocabulary: Vocabulary = {
  kindOf: (ref) => /^(counter\/\w+|supervisor|edge)$/.test(ref) ? ref.split("/")[0] : undefined,
  check: (_from, { to, type, payload }) =>
    vocabulary.kindOf(to) === undefined ? fail("unknown_type", `"${to}" names no actor`) : ok({
      lane: "normal",
      durable: !ephemeral.includes(type),
      payload,
    }),
  isRequest: (type) => type !== "request.failed",
};

/** A bench that may not hold the lease for as long as it runs would measure its own loss. */
const LEASE_MS = 3_600_000;

/** A runtime with counters. */
export class BenchRuntime {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #token = 0;

  private constructor(store: Store, runtime: (onEdge: (message: Envelope) => void) => Runtime) {
    this.store = store;
    this.runtime = runtime((message) => this.#answer(message));
  }

  /** Opens (or creates) `folder/bench.db` and starts. Takes the lease from whoever has it. */
  static async start(folder: string, limits: Partial<Limits> = {}): Promise<BenchRuntime> {
    const entry = await counterBundle();
    const store = await openBenchStore(folder);
    const bench = new BenchRuntime(store, (onEdge) => makeRuntime({ store, entry, limits, onEdge }));
    await bench.runtime.start();
    return bench;
  }

  /** Sends a question of this type; resolves with the answer. */
  ask(ref: string, type: string, more: Partial<Send> & { readonly n?: number } = {}): Promise<Answer> {
    const token = ++this.#token;
    const { n, ...send } = more;
    const payload = { token, n, due: send.notBefore };
    return new Promise((resolve, reject) => {
      this.#asked.set(token, resolve);
      this.runtime.send({ to: ref, type, payload, ...send }).then((sent) => {
        if (!sent.ok) reject(new Error(`${sent.error.code}: ${sent.error.message}`));
      }, reject);
    });
  }

  async stop(): Promise<void> {
    await this.runtime.stop({ graceMs: 500 });
    await this.store.close();
  }

  #answer({ payload }: Envelope): void {
    const answer = payload as Answer; // the counter's own
    this.#asked.get(answer.token)?.(answer);
    this.#asked.delete(answer.token);
  }
}

/** The database of a bench, with its schema, under a lease of its own. */
export async function openBenchStore(folder: string): Promise<Store> {
  const store = await openStore({ url: `file:${join(folder, "bench.db")}` });
  const known = await store.query(sql("SELECT name FROM sqlite_schema WHERE name = 'messages'"));
  if (known.rows.length === 0) await store.batch(schema.map((text) => sql(text)));
  await store.batch([sql("DELETE FROM leases")]);
  const lease = await acquireLease(store, { name: SUPERVISOR_LEASE, holder: "bench", ttlMs: LEASE_MS });
  if (!lease.ok) throw new Error("somebody else holds the lease of this bench's own database");
  store.setFence(lease.lease);
  return store;
}

async function counterBundle(): Promise<string> {
  const output = join(root, "build/bench/counter.js");
  await build([workerBundle("bench/actors/counter.ts", output)], join(root, "build/bench/manifest.json"));
  return output;
}

function makeRuntime({ store, entry, limits, onEdge }: {
  readonly store: Store;
  readonly entry: string;
  readonly limits: Partial<Limits>;
  readonly onEdge: (message: Envelope) => void;
}): Runtime {
  return createRuntime({
    store,
    vocabulary,
    opStatements: () => fail("unknown_type", "a counter has no operations"),
    runRead: () => Promise.reject(new Error("a counter reads nothing")),
    loads: {
      async counter(db, id) {
        const found = await db.query(
          sql("SELECT coalesce(max(seq), 0) FROM events WHERE actor = ?", `counter/${id}`),
        );
        return { seq: Number(found.rows[0]?.[0]) };
      },
    },
    kinds: [{ kind: "counter", mode: "pure", entry, placement: "shared" }],
    clock: systemClock,
    newId,
    random: Math.random,
    log: (level, text, facts) => {
      if (level === "warn" || level === "error") console.error(level, text, facts);
    },
    limits,
    denoConfig: join(root, "deno.json"),
    childEnv: Object.fromEntries(["DENO_DIR", "HOME"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    })),
    onEdge,
    onNote: (note) => console.error(note),
    onSupervisor: () => {},
  });
}
