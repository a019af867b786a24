/**
 * A real runtime for tests: real host processes, real libSQL files, and the actors in `tests/doubles/actors/` under a small vocabulary. What
 * it tells is collected, and `until` waits for a fact without sleeping a fixed time.
 */
import { join } from "node:path";
import { build, root, workerBundle } from "../../build.ts";
import { systemClock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { fail, ok } from "../../lib/result.ts";
import type { Envelope } from "../../runtime/actor.ts";
import type { Limits } from "../../runtime/limits.ts";
import { type OpenLink, openProcessLink } from "../../runtime/link/process_link.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import type { Tracer } from "../../runtime/tracing.ts";
import type { Note } from "../../runtime/tree.ts";
import type { CommitStore, GatewayKind, KindSpec, Vocabulary } from "../../runtime/vocabulary.ts";
import { objects, sql, type Statement } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { statements as schema } from "../../store/migrations/0001_init.ts";
import type { Store } from "../../store/store.ts";
import { openStore } from "../../store/worker_db.ts";

/** One line of the log. */
export interface LogEntry {
  readonly level: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const ephemeral = ["test.delta", "test.live", "actor.woke"];
const control = ["test.stop", "test.release", "request.failed"];

/** `test.*` from anybody to anybody; `test.secret` is refused. */
export const testVocabulary: Vocabulary = {
  kindOf: (ref) =>
    /^(conversation\/[a-z0-9]+|approval|tools|supervisor|edge)$/.test(ref) ? ref.split("/")[0] : undefined,
  check(_from, { to, type, payload }) {
    if (testVocabulary.kindOf(to) === undefined) return fail("unknown_type", `"${to}" names no actor`);
    if (type === "test.secret") return fail("not_allowed", "nobody may say this");
    const lane = control.includes(type) ? "control" : "normal";
    return ok({ lane, durable: !ephemeral.includes(type), payload });
  },
  isRequest: (type) => type !== "request.failed",
  keyOf: ({ payload, from }) => {
    const key = typeof payload === "object" && payload !== null && "key" in payload ? payload.key : undefined;
    return typeof key === "string" ? key : from;
  },
};

/** Short times for tests. */
export const testLimits: Partial<Limits> = {
  idleMs: 60_000,
  hangMs: 2_500,
  tickMs: 100,
  heapMb: 64,
  pollIdleMs: 200,
  pollWaitingMs: 100,
  restart: { intensity: 5, windowMs: 60_000, baseMs: 20, capMs: 100 },
};

let bundle: Promise<string> | undefined;

/** The test Worker's bundle, built once. */
function workerPath(): Promise<string> {
  return bundle ??= (async () => {
    const output = join(root, "build/tests/worker.js");
    // The product's bundles may not import Node's modules; a hostile one would.
    const options = { external: ["node:*"] };
    const worker = { ...workerBundle("tests/doubles/actors/worker.ts", output), options };
    await build([worker], join(root, "build/tests/manifest.json"));
    return output;
  })();
}

/** What a test runtime may be given. */
export interface TestOptions {
  readonly folder: string;
  readonly limits?: Partial<Limits>;
  readonly wrap?: (store: Store) => CommitStore;
  readonly onSupervisor?: (message: Envelope) => void;
  readonly openLink?: OpenLink;
  readonly tracer?: Tracer;
  /** How the gateway is started. Default: at boot. */
  readonly gateway?: Pick<GatewayKind, "start" | "introduce">;
}

/** A runtime over `folder/test.db`, and what it tells. */
export class TestRuntime {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly edge: Envelope[] = [];
  readonly notes: Note[] = [];
  readonly log: LogEntry[] = [];
  /** Every process that was started, in order. */
  readonly opened: { readonly entry: string; ended: boolean }[] = [];
  #wakers = new Set<() => void>();

  private constructor(store: Store, worker: string, options: TestOptions) {
    this.store = store;
    this.runtime = createRuntime({
      store: options.wrap?.(store) ?? store,
      vocabulary: testVocabulary,
      opStatements: () => fail("unknown_type", "no operations in this test"),
      runRead: (_ref, _kind, name, input) =>
        name === "double"
          ? Promise.resolve({ twice: 2 * (input as { n: number }).n }) // the test gateway's question
          : Promise.reject(new Error(`no read "${name}"`)),
      loads: {
        conversation: (_db, id) => this.#load(`conversation/${id}`),
        approval: () => this.#load("approval"),
      },
      kinds: testKinds(worker, options.gateway),
      clock: systemClock,
      newId,
      random: Math.random,
      log: (level, text, facts = {}) => {
        this.log.push({ level, text, facts });
        this.#wake();
      },
      limits: { ...testLimits, ...options.limits },
      openLink: (spec, events) => {
        const link = (options.openLink ?? openProcessLink)(spec, events);
        const process = { entry: spec.entry, ended: false };
        this.opened.push(process);
        void link.ended.then(() => {
          process.ended = true;
          this.#wake();
        });
        return link;
      },
      tracer: options.tracer,
      denoConfig: join(root, "deno.json"),
      childEnv: childEnv(),
      leaseMs: () => 10_000,
      onEdge: (message) => {
        this.edge.push(message);
        this.#wake();
      },
      onNote: (note) => {
        this.notes.push(note);
        this.#wake();
      },
      onSupervisor: (message) => options.onSupervisor?.(message),
    });
    this.runtime.onChange(() => this.#wake());
  }

  /** Opens the database and starts. */
  static async start(options: TestOptions): Promise<TestRuntime> {
    const worker = await workerPath();
    const store = await openStore({ url: `file:${join(options.folder, "test.db")}` });
    const known = await store.query(sql("SELECT name FROM sqlite_schema WHERE name = 'messages'"));
    if (known.rows.length === 0) await store.batch(schema.map((text) => sql(text)));
    const test = new TestRuntime(store, worker, options);
    await test.runtime.start();
    return test;
  }

  async stop(graceMs = 500): Promise<void> {
    await this.runtime.stop({ graceMs });
    await this.store.close();
  }

  /** Inserts a row as the edge does, and rings. Returns the id. */
  async insert(
    to: string,
    type: string,
    payload: unknown = {},
    more: { notBefore?: number; replaces?: string; from?: string } = {},
  ): Promise<string> {
    const id = newId();
    await this.insertAll([[to, type, payload, more]], [id]);
    return id;
  }

  /** Inserts many rows in one batch. */
  async insertAll(
    rows: readonly [string, string, unknown, { notBefore?: number; replaces?: string; from?: string }?][],
    ids: readonly string[] = rows.map(() => newId()),
  ): Promise<readonly string[]> {
    const all: Statement[] = rows.flatMap(([to, type, payload, more = {}], index) =>
      insertMessage({
        id: ids[index] ?? newId(),
        to,
        type,
        payload,
        from: "edge",
        lane: control.includes(type) ? "control" : "normal",
        at: Date.now(),
        ...more,
      })
    );
    await this.store.batch(all);
    this.runtime.poke();
    return ids;
  }

  /** Resolves when `fact` holds; looks after everything that happens. Rejects after 20 s. */
  async until(what: string, fact: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + 20_000;
    while (!await fact()) {
      if (performance.now() > end) {
        throw new Error(
          `waited in vain until ${what}\n${
            this.log.slice(-40).map((line) => JSON.stringify(line)).join("\n")
          }`,
        );
      }
      await this.#next(20);
    }
  }

  /** Rows as objects. */
  async rows<T>(text: string, ...args: readonly (string | number)[]): Promise<T[]> {
    return objects<T>(await this.store.query(sql(text, ...args)));
  }

  async total(ref: string): Promise<number> {
    return (await this.#load(ref)).total;
  }

  /** How many messages of an actor are still open. */
  async open(ref: string): Promise<number> {
    const [row] = await this.rows<{ n: number }>(
      "SELECT count(*) AS n FROM messages WHERE to_ref = ? AND state IN ('queued', 'started')",
      ref,
    );
    return row?.n ?? 0;
  }

  view(ref: string) {
    return this.runtime.actors().find((actor) => actor.ref === ref);
  }

  async #load(ref: string): Promise<{ seq: number; total: number }> {
    const [row] = await this.rows<{ seq: number; total: number }>(
      `SELECT coalesce(max(seq), 0) AS seq, coalesce(sum(payload ->> 'n'), 0) AS total FROM events WHERE actor = ?`,
      ref,
    );
    return row ?? { seq: 0, total: 0 };
  }

  /** The next thing that is told, or a moment, whichever is first: rows change without a word. */
  #next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wakers.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}

function testKinds(worker: string, gateway: TestOptions["gateway"] = {}): KindSpec[] {
  return [
    {
      ...gateway,
      kind: "tools",
      mode: "gateway",
      entry: join(root, "tests/doubles/actors/gateway.ts"),
      flags: [],
      config: () => ({ secret: "only for tools" }),
    },
    { kind: "approval", mode: "pure", entry: worker, placement: "core" },
    { kind: "conversation", mode: "pure", entry: worker, placement: "shared", uses: ["tools"] },
  ];
}

function childEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ["DENO_DIR", "HOME"]) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}
