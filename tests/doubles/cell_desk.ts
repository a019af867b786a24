/**
 * A runtime for tests of single actors' supervisors, without processes: the link is a list of what was said, and a test says what the process
 * answers. The clock is a fake one and the database is in memory.
 */
import { fail, ok } from "../../lib/result.ts";
import { GATEWAY_SLOT } from "../../runtime/link/link_messages.ts";
import type { FromGateway, ToGateway } from "../../runtime/link/link_messages.ts";
import type { LinkEvents, ProcessLink } from "../../runtime/link/process_link.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import type { ActorView } from "../../runtime/tree.ts";
import type { GatewayKind, Vocabulary } from "../../runtime/vocabulary.ts";
import { sql } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { directStore } from "../../store/store.ts";
import { MemoryDatabase } from "../sim/database.ts";
import { FakeClock } from "./fake_clock.ts";
import { FaultyDb } from "./faulty_db.ts";

const vocabulary: Vocabulary = {
  kindOf: (ref) => ["tools", "core", "guest", "edge"].includes(ref) ? ref : undefined,
  check: (_from, { payload }) => ok({ lane: "normal", durable: true, payload }),
  isRequest: () => false,
};

/** One process that only listens. */
export class ScriptedProcess implements ProcessLink {
  readonly pid = 1;
  readonly heard: ToGateway[] = [];
  /** While true, it does not end when told to. */
  holdStop = false;
  #over = false;
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
    if (message.t === "stop" && !this.holdStop) this.exit(0);
  }

  beat(): void {
    if (!this.#over) this.say({ t: "beat" });
  }

  exit(code: number): void {
    if (this.#over) return;
    this.#over = true;
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
export class CellDesk {
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

  constructor(gateway: Partial<GatewayKind> = {}) {
    this.runtime = createRuntime({
      store: this.#store,
      vocabulary,
      opStatements: () => fail("unknown_type", "no operations"),
      runRead: () => Promise.reject(new Error("no reads")),
      loads: { core: () => Promise.resolve(null), guest: () => Promise.resolve(null) },
      kinds: [
        { ...gateway, kind: "tools", mode: "gateway", entry: "/tools.ts", flags: [] },
        { kind: "core", mode: "pure", entry: "/core.js", placement: "core" },
        { kind: "guest", mode: "pure", entry: "/guest.js", placement: "shared", uses: ["tools"] },
      ],
      clock: this.clock,
      newId: () => `made-${++this.#ids}`,
      random: () => 0.5,
      log: () => {},
      denoConfig: "/deno.json",
      openLink: ({ entry }, events) => {
        if (this.startsFail) throw new Error("no process can be started");
        const process = new ScriptedProcess(events);
        const all = entry === "/tools.ts" ? this.processes : this.hosts;
        all.push(process);
        return process;
      },
      onEdge: () => {},
      onNote: () => {},
      onSupervisor: () => {},
    });
  }

  insert(id: string, key: string, more: { replaces?: string; failures?: number; to?: string } = {}): void {
    const message = {
      id,
      to: more.to ?? "tools",
      from: "edge",
      type: "act",
      lane: "normal",
      key,
      at: 0,
    } as const;
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

  /** The gateway as people see it. */
  get view(): ActorView | undefined {
    return this.runtime.actors().find(({ ref }) => ref === "tools");
  }

  /** Reasons of the ends of the gateway's processes, in order. */
  get downs(): unknown[] {
    const text = "SELECT reason, detail FROM downs WHERE ref = 'tools' ORDER BY incarnation";
    return this.database.query(sql(text)).rows.map(([reason, detail]) => `${reason}: ${detail}`);
  }

  async close(): Promise<void> {
    const stopping = this.runtime.stop({ graceMs: 0 });
    await this.clock.advance(2_000);
    await stopping;
    this.database.close();
  }
}

/** Runs `body` on a started runtime and stops it. */
export async function withDesk(
  body: (desk: CellDesk) => Promise<void>,
  gateway: Partial<GatewayKind> = {},
): Promise<void> {
  const desk = new CellDesk(gateway);
  await desk.runtime.start();
  await desk.clock.advance(1);
  try {
    await body(desk);
  } finally {
    await desk.close();
  }
}
