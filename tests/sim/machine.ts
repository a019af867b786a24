/**
 * One life of a supervisor: its lease, its store over a bad network, and the real runtime, put together as the composition root does it. It can
 * be stopped (SIGSTOP), killed at any instant, and stopped in order; when it loses its lease it ends by itself, as the product does.
 */
import { defaultLimits, type Limits } from "../../runtime/limits.ts";
import type { OpenLink } from "../../runtime/link/process_link.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { type Lease, releaseLease, waitForLease } from "../../store/lease.ts";
import { LeaseKeeper } from "../../store/lease_keeper.ts";
import { directStore, type Store } from "../../store/store.ts";
import { kinds, loads, opStatements, pureActor, vocabulary, worldGateway } from "./actors.ts";
import type { MemoryDatabase } from "./database.ts";
import { GatewayProgram } from "./gateway_program.ts";
import { LinkWitness } from "./link_witness.ts";
import { NetworkDb } from "./network.ts";
import type { FaultPlan } from "./plan.ts";
import { SimProcess } from "./process.ts";
import { PureProgram } from "./pure_program.ts";
import { MachineClock, type Schedule } from "./schedule.ts";
import type { Witness } from "./witness.ts";

/** Small numbers, so that every limit is reached often. */
export const limits: Limits = {
  ...defaultLimits,
  idleMs: 400,
  restMs: 0,
  maxLive: 4,
  workersPerHost: 3,
  hangMs: 3_000,
  gatewayHangMs: 4_000,
  startMs: 5_000,
  tickMs: 200,
  mailbox: 24,
  window: 8,
  gatewayWindow: 12,
  keyWindow: 3,
  pollWaitingMs: 200,
  pollIdleMs: 1_000,
  restart: { intensity: 5, windowMs: 20_000, baseMs: 20, capMs: 400 },
  leaseMarginMs: 1_000,
};

const LEASE_MS = 6_000;

/** The run that it is part of. */
export interface MachineOptions {
  readonly name: string;
  readonly schedule: Schedule;
  readonly plan: FaultPlan;
  readonly database: MemoryDatabase;
  readonly witness: Witness;
  readonly newId: () => string;
  /** It is gone, however that came. */
  readonly onGone: (why: string) => void;
}

/** A supervisor's process. */
export class Machine {
  readonly name: string;
  readonly clock: MachineClock;
  readonly network: NetworkDb;
  phase: "waits" | "starts" | "runs" | "gone" = "waits";
  runtime: Runtime | undefined;
  readonly #options: MachineOptions;
  readonly #links: LinkWitness;
  readonly #processes = new Set<SimProcess>();
  readonly #store: Store;
  #lease: Lease | undefined;
  #keeper: LeaseKeeper | undefined;
  #pids = 0;

  constructor(options: MachineOptions) {
    this.#options = options;
    const { schedule, plan, database, witness, newId } = options;
    this.name = options.name;
    this.clock = new MachineClock(schedule);
    this.clock.onCrash = (error) => {
      const text = error instanceof Error ? error.stack ?? String(error) : String(error);
      witness.broken("a supervisor catches its errors", `${this.name}: ${text}`);
    };
    this.network = new NetworkDb({ by: this.name, database, schedule, clock: this.clock, plan });
    this.#links = new LinkWitness(this.name, witness, limits);
    const random = () => plan.random.next();
    this.#store = directStore(this.network, {
      clock: this.clock,
      random,
      newCommitId: newId,
      giveUpMs: 4_000,
    });
    this.#store.onLost = (loss) => this.end(`its store lost ${loss}`);
  }

  /** Waits for the lease and runs. */
  async boot(): Promise<void> {
    const { plan } = this.#options;
    try {
      const request = { name: "supervisor", holder: this.name, ttlMs: LEASE_MS };
      const random = () => plan.random.next();
      this.#lease = await waitForLease(this.network, request, { clock: this.clock, random });
      this.#keeper = new LeaseKeeper(this.network, this.#lease, {
        clock: this.clock,
        onLost: (loss) => this.end(`its lease is ${loss}`),
      });
      this.#store.setFence(this.#lease);
      this.phase = "starts";
      this.#options.witness.tell(`${this.name} has the lease`);
      const runtime = this.#makeRuntime();
      await runtime.start();
      this.runtime = runtime;
      this.phase = "runs";
    } catch (error) {
      this.end(`it could not start: ${String(error)}`);
    }
  }

  get processes(): readonly SimProcess[] {
    return [...this.#processes].filter((process) => process.runs);
  }

  /** Ends at this instant; its pipes end with it. */
  end(why: string): void {
    if (this.phase === "gone") return;
    this.phase = "gone";
    this.#options.witness.tell(`${this.name} ends: ${why}`);
    this.clock.end();
    for (const process of this.#processes) process.orphan();
    this.#options.onGone(why);
  }

  /** Ends in order, and gives the lease back. */
  async stop(): Promise<void> {
    await this.runtime?.stop({ graceMs: 1_000 });
    await this.#keeper?.stop();
    if (this.#lease) await releaseLease(this.network, this.#lease);
    await this.#store.close();
    this.#links.stopped();
    this.phase = "gone";
    this.clock.end();
  }

  #makeRuntime(): Runtime {
    const { plan, newId, witness } = this.#options;
    return createRuntime({
      store: this.#store,
      vocabulary,
      opStatements,
      runRead: () => Promise.reject(new Error("nobody asks")),
      loads,
      kinds,
      clock: this.clock,
      newId,
      random: () => plan.random.next(),
      log: (level, text, facts = {}) => {
        if (text === "an actor is down") this.#links.down(String(facts["ref"]), Number(facts["incarnation"]));
        if (level !== "debug") witness.tell(`${this.name}: ${text} ${JSON.stringify(facts)}`);
      },
      limits,
      denoConfig: "/sim/deno.json",
      openLink: this.#openLink,
      leaseMs: () => (this.#keeper?.deadline ?? 0) - this.clock.monotonic(),
      onEdge: (message) => {
        if (!message.durable) return;
        const text = "SELECT count(*) FROM messages WHERE id = ? AND state = 'done'";
        if (this.#options.database.number(text, message.id) === 1) return;
        witness.broken("nothing is shown at the edge before it is on disk", message.id);
      },
      onNote: (note) => witness.tell(`${this.name}: ${JSON.stringify(note)}`),
      onSupervisor: () => {},
    });
  }

  readonly #openLink: OpenLink = (spec, events) => {
    const { schedule, plan, witness, newId } = this.#options;
    if (plan.startFails()) throw new Error("the plan lets no process start");
    const isGateway = spec.entry === "/sim/world.ts";
    const process = new SimProcess({
      schedule,
      plan,
      clock: this.clock,
      pid: ++this.#pids,
      isGateway,
      program: (shell) =>
        isGateway
          ? new GatewayProgram(shell, { gateway: worldGateway(witness.worldOf(this.name), shell), newId })
          : new PureProgram(shell, { actor: pureActor, newId }),
      events,
      witness: this.#links,
      onEnded: (ended) => this.#processes.delete(ended),
    });
    this.#processes.add(process);
    return process;
  };
}
