/**
 * The supervisors of single actors without processes: the link is a list of what was said, and a test says what the process answers. For the
 * orders of events that a real process meets once in a thousand runs.
 */
import assert from "node:assert/strict";
import { fail, ok } from "../../lib/result.ts";
import { DbError, sql } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { directStore } from "../../store/store.ts";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import { FaultyDb } from "../../tests/doubles/faulty_db.ts";
import { MemoryDatabase } from "../../tests/sim/database.ts";
import type { FromGateway, ToGateway } from "../link/link_messages.ts";
import { GATEWAY_SLOT } from "../link/link_messages.ts";
import type { LinkEvents, ProcessLink } from "../link/process_link.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import type { Vocabulary } from "../vocabulary.ts";

const vocabulary: Vocabulary = {
  kindOf: (ref) => ["tools", "core", "edge"].includes(ref) ? ref : undefined,
  check: (_from, { payload }) => ok({ lane: "normal", durable: true, payload }),
  isRequest: () => false,
};

/** One process that only listens. */
class ScriptedProcess implements ProcessLink {
  readonly pid = 1;
  readonly heard: ToGateway[] = [];
  readonly ended: Promise<void>;
  readonly #events: LinkEvents;
  readonly #resolveEnded: () => void;

  constructor(events: LinkEvents) {
    this.#events = events;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.say({ t: "ready" });
  }

  say(message: FromGateway): void {
    queueMicrotask(() => this.#events.onEntry({ slot: GATEWAY_SLOT, text: JSON.stringify(message) }));
  }

  send(_slot: number, text: string): void {
    const message = JSON.parse(text) as ToGateway; // the supervisor's own text
    this.heard.push(message);
    if (message.t === "stop") this.exit(0);
  }

  exit(code: number): void {
    this.#events.onExit({ code, signal: null, badFrame: false });
    this.#resolveEnded();
  }

  close(): void {}

  kill(): void {
    this.exit(137);
  }

  /** Ids in the order in which they were handed over. */
  get delivered(): string[] {
    const frames = this.heard.filter((message) => message.t === "deliver");
    return frames.flatMap(({ messages }) => messages.map(({ message }) => (message as { id: string }).id)); // envelopes
  }

  get answers(): number[] {
    return this.heard.flatMap((message) => message.t === "answer" ? [message.n] : []);
  }
}

/** A runtime with a gateway, `tools`, and a pure actor, `core`. */
class Desk {
  /** While true, no process can be started. */
  startsFail = false;
  readonly clock = new FakeClock();
  readonly database = new MemoryDatabase(() => this.clock.now());
  /** Of the gateway. */
  readonly processes: ScriptedProcess[] = [];
  readonly hosts: ScriptedProcess[] = [];
  readonly db = new FaultyDb({
    query: (statement) => Promise.try(() => this.database.query(statement)),
    queryAll: (statements) =>
      Promise.try(() => statements.map((statement) => this.database.query(statement))),
    batch: (statements) => Promise.try(() => this.database.batch("test", statements)),
    close: () => Promise.resolve(),
  });
  readonly #store = directStore(this.db, { clock: this.clock, random: () => 0.5 });
  readonly runtime: Runtime;
  #ids = 0;

  constructor() {
    this.runtime = createRuntime({
      store: this.#store,
      vocabulary,
      opStatements: () => fail("unknown_type", "no operations"),
      runRead: () => Promise.reject(new Error("no reads")),
      loads: { core: () => Promise.resolve(null) },
      kinds: [
        { kind: "tools", mode: "gateway", entry: "/tools.ts", flags: [] },
        { kind: "core", mode: "pure", entry: "/core.js", placement: "core" },
      ],
      clock: this.clock,
      newId: () => `made-${++this.#ids}`,
      random: () => 0.5,
      log: () => {},
      denoConfig: "/deno.json",
      openLink: ({ args }, events) => {
        if (this.startsFail) throw new Error("no process can be started");
        const process = new ScriptedProcess(events);
        const all = args.at(-1) === "/tools.ts" ? this.processes : this.hosts;
        all.push(process);
        return process;
      },
      onEdge: () => {},
      onNote: () => {},
      onSupervisor: () => {},
    });
  }

  insert(id: string, key: string, more: { replaces?: string; failures?: number } = {}): void {
    const message = { id, to: "tools", from: "edge", type: "act", lane: "normal", key, at: 0 } as const;
    this.database.batch("test", [
      ...insertMessage({ ...message, payload: {}, replaces: more.replaces }),
      sql("UPDATE messages SET failures = ? WHERE id = ?", more.failures ?? 0, id),
    ]);
    this.runtime.poke();
  }

  process(index: number): ScriptedProcess {
    const process = this.processes[index];
    if (!process) throw new RangeError(`process ${index} was not started`);
    return process;
  }

  state(id: string): unknown {
    return this.database.query(sql("SELECT state FROM messages WHERE id = ?", id)).rows[0]?.[0];
  }

  async close(): Promise<void> {
    const stopping = this.runtime.stop({ graceMs: 0 });
    await this.clock.advance(2_000);
    await stopping;
    this.database.close();
  }
}

async function withDesk(body: (desk: Desk) => Promise<void>): Promise<void> {
  const desk = new Desk();
  await desk.runtime.start();
  await desk.clock.advance(1);
  try {
    await body(desk);
  } finally {
    await desk.close();
  }
}

Deno.test("what an earlier process of a gateway asked is not answered to the next one, which gets the message as resumed", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k");
    await desk.clock.advance(1);
    desk.db.away = true;
    desk.process(0).say({ t: "started", n: 1, id: "a", intent: "first" });
    await desk.clock.advance(1);

    desk.process(0).exit(9);
    await desk.clock.advance(200);
    const early = desk.processes.length;
    desk.db.away = false;
    await desk.clock.advance(2_000);

    const [delivery] = desk.process(1).heard.flatMap((message) =>
      message.t === "deliver" ? message.messages : []
    );
    assert.equal(desk.state("a"), "started");
    assert.equal(early, 1);
    assert.deepEqual([delivery?.resumed, delivery?.intent], [true, "first"]);
    assert.deepEqual(desk.process(1).answers, []);
  });
});

Deno.test("messages of a key keep their order when a crash has made the first of them suspects", async () => {
  await withDesk(async (desk) => {
    for (const id of ["a", "b"]) desk.insert(id, "k");
    await desk.clock.advance(1);
    desk.process(0).exit(9);
    desk.insert("c", "k");
    desk.insert("d", "other");
    await desk.clock.advance(500);

    assert.deepEqual(desk.process(1).delivered, ["a", "d"]);
    for (const id of ["a", "b", "c"]) {
      desk.process(1).say({ t: "done", id });
      await desk.clock.advance(1);
    }
    assert.deepEqual(desk.process(1).delivered, ["a", "d", "b", "c"]);
  });
});

Deno.test("a withdrawn message is not handed over again because the database could not tell that it is", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k", { replaces: "alarm" });
    await desk.clock.advance(1);
    desk.insert("b", "other", { replaces: "alarm" });
    await desk.clock.advance(1);
    desk.db.queryFaults.push("lose_request");
    desk.process(0).say({ t: "done", id: "a" });
    await desk.clock.advance(1_000);

    assert.deepEqual(desk.process(0).delivered, ["a", "b"]);
    assert.equal(desk.state("a"), "done");
  });
});

Deno.test("a crash is not the fault of a message whose result is on its way to disk", async () => {
  await withDesk(async (desk) => {
    desk.insert("a", "k", { failures: 2 });
    await desk.clock.advance(1);
    desk.db.away = true;
    desk.process(0).say({ t: "done", id: "a" });
    await desk.clock.advance(1);
    desk.process(0).exit(9);
    await desk.clock.advance(500);
    desk.db.away = false;
    await desk.clock.advance(1_000);

    assert.equal(desk.state("a"), "done");
    assert.deepEqual(desk.process(1).delivered, []);
    assert.equal(desk.database.number("SELECT count(*) FROM dead_letters"), 0);
  });
});

Deno.test("the ends of an actor's lives are written down in their order, also when one has to be tried again", async () => {
  await withDesk(async (desk) => {
    desk.db.batchFaults.push(new DbError("full", "the disk is full"));
    desk.hosts[0]?.exit(9);
    await desk.clock.advance(120);
    desk.hosts[1]?.exit(9);

    for (let waited = 0; waited < 1_000; waited += 50) {
      await desk.clock.advance(50);
      const [row] = desk.database.query(sql(
        `SELECT a.incarnation, count(d.incarnation), coalesce(max(d.incarnation), 0) FROM actors a
         LEFT JOIN downs d ON d.ref = a.ref WHERE a.ref = 'core'`,
      )).rows;
      const [incarnation, count, last] = row ?? [];
      assert.equal(count, last, `${count} ends are known of ${last} at ${waited} ms`);
      assert.ok(
        Number(last) <= Number(incarnation),
        `life ${last} has ended but the actor is at ${incarnation}`,
      );
    }
  });
});

Deno.test("actors whose processes cannot be started wait until they can be", async () => {
  const desk = new Desk();
  desk.startsFail = true;
  await desk.runtime.start();
  await desk.clock.advance(1_500);
  const states = desk.runtime.actors().map(({ ref, state }) => [ref, state]);
  desk.startsFail = false;
  await desk.clock.advance(1_500);

  assert.deepEqual(states, [["core", "starting"], ["tools", "starting"]]);
  assert.deepEqual([desk.processes.length, desk.hosts.length], [1, 1]);
  assert.deepEqual(desk.runtime.actors().map(({ incarnation }) => incarnation), [1, 1]);
  assert.equal(desk.database.number("SELECT count(*) FROM downs"), 0);
  await desk.close();
});
