/**
 * The supervised, durable actor runtime: `createRuntime` puts its parts together. Owns the tree of actors, their mailboxes and processes. It
 * promises what each part promises: nothing is delivered before it is a row, handling is one commit, one actor's fault stays its own, and
 * no process outlives it. It knows no product: messages, operations, reads and kinds are parameters. Proven by `runtime_test.ts`.
 */
import { fail, ok, type Result } from "../lib/result.ts";
import type { Send } from "./actor.ts";
import { deadLetter } from "./mail/dead_letter.ts";
import type { Hold } from "./mail/mailbox.ts";
import { makeKernel } from "./make_kernel.ts";
import type { RuntimeStats } from "./meter.ts";
import type { RuntimeOptions } from "./options.ts";
import { OwnMail, SUPERVISOR } from "./own_mail.ts";
import { type ActorRecord, freshRecord, loadRecords, loseAll, wasAwake } from "./supervise/actor_record.ts";
import { GatewayCell } from "./supervise/gateway_cell.ts";
import type { Cell, Kernel } from "./supervise/kernel.ts";
import { Living } from "./supervise/living.ts";
import { PureCell } from "./supervise/pure_cell.ts";
import type { ActorView } from "./tree.ts";
import type { KindSpec } from "./vocabulary.ts";

export type { RuntimeOptions } from "./options.ts";

/** A running runtime. */
export interface Runtime {
  /** Loads what is open, starts core actors and gateways, wakes what has work. Rejects with `DbError`. */
  start(): Promise<void>;
  /** Ends everything in reverse order; working actors get `graceMs` to reach a commit. No process is left. */
  stop(options: { graceMs: number }): Promise<void>;
  /** Others have inserted rows. */
  poke(): void;
  /** Sends a message from `supervisor`; resolves with its id when it is on disk. */
  send(send: Send): Promise<Result<string>>;
  actors(): ActorView[];
  /** What it did since it was made. */
  stats(): RuntimeStats;
  /** False when there is no such actor. */
  restart(ref: string): boolean;
  /** Keeps messages that match from being delivered until it is called with undefined; each is told once as a note. Rows are not touched. */
  hold(hold: Hold | undefined): void;
  /** Told the ref of each actor that changed; returns how to stop listening. */
  onChange(listener: (ref: string) => void): () => void;
}

/** Makes a runtime; nothing runs before `start`. */
export function createRuntime(options: RuntimeOptions): Runtime {
  return new Tree(options);
}

const STOP_POLL_MS = 10;

class Tree implements Runtime {
  readonly #options: RuntimeOptions;
  readonly #kernel: Kernel;
  readonly #kinds: ReadonlyMap<string, KindSpec>;
  readonly #cells = new Map<string, Cell>();
  readonly #records = new Map<string, ActorRecord>();
  readonly #living: Living;
  readonly #own: OwnMail;
  readonly #listeners = new Set<(ref: string) => void>();
  #cancelPoll: (() => void) | undefined;
  #running = false;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#kinds = new Map(options.kinds.map((kind) => [kind.kind, kind]));
    this.#kernel = makeKernel(options, {
      dispatch: (ref) => this.#dispatch(ref),
      withdraw: (ref, id) => this.#cells.get(ref)?.withdraw(id),
      ephemeral: (message) => this.#cells.get(message.to)?.ephemeral(message),
      admit: (cell) => this.#admit(cell),
      changed: (ref) => this.#changed(ref),
      tick: () => this.#tick(),
    });
    this.#living = new Living(this.#kernel.limits, options.clock);
    this.#own = new OwnMail(this.#kernel, options.onSupervisor);
  }

  async start(): Promise<void> {
    const { store, clock, kinds } = this.#options;
    const lost = await store.commit({ id: "lost incarnations", statements: loseAll(clock.now()) });
    if (!lost.ok) throw new Error(`the runtime cannot write: ${lost.error.message}`);
    for (const record of await loadRecords(store)) this.#records.set(record.ref, record);
    await this.#kernel.room.load();
    this.#running = true;
    this.#kernel.heartbeats.start();
    for (const kind of kinds) {
      if (kind.mode === "gateway") this.#gateway(kind.kind)?.begin();
      else if (kind.placement === "core") this.#cell(kind.kind)?.restart();
    }
    // Those that sleep are not looked at before they get mail: there may be very many.
    for (const [ref, record] of this.#records) if (wasAwake(record)) this.#cell(ref)?.pump();
    for (const ref of [...this.#kernel.room.refs()]) this.#dispatch(ref);
    this.#schedulePoll();
  }

  async stop({ graceMs }: { graceMs: number }): Promise<void> {
    const { room, commits, heartbeats, pool, clock } = this.#kernel;
    this.#running = false;
    this.#cancelPoll?.();
    this.#living.stop();
    this.#own.stop();
    room.close();
    const cells = [...this.#cells.values()];
    const pure = cells.filter((cell) => cell instanceof PureCell);
    const deadline = clock.monotonic() + graceMs;
    const left = () => Math.max(0, deadline - clock.monotonic());
    // Conversations first, then core actors and gateways from the last started to the first.
    const shared = pure.filter((cell) => !this.#isCore(cell.ref));
    for (const cell of shared) cell.quiesce();
    await this.#quiet(shared, left);
    await Promise.all(shared.map((cell) => cell.stop()));
    for (const kind of this.#options.kinds.toReversed()) {
      if (kind.mode === "pure" && kind.placement === "shared") continue;
      const cell = this.#cells.get(kind.kind);
      if (cell instanceof PureCell) {
        cell.quiesce();
        await this.#quiet([cell], left);
      }
      await cell?.stop(left());
    }
    heartbeats.stop();
    await pool.stop(1_000);
    commits.close();
    await commits.settled();
    await room.settled();
  }

  poke(): void {
    if (this.#running) this.#kernel.room.poke();
  }

  async send(send: Send): Promise<Result<string>> {
    const built = this.#kernel.builder.buildSupervisorSend(send);
    if (!built.ok) return built;
    const id = built.value.mail[0]?.mail.id ?? built.value.edge[0]?.id ?? built.value.ephemeral[0]?.id ?? "";
    if (built.value.statements.length === 0) {
      this.#kernel.commits.emit(built.value);
      return ok(id);
    }
    const outcome = await this.#kernel.commits.run(id, built.value);
    if (!outcome.ok) this.#kernel.commits.release(built.value);
    return outcome.ok ? ok(id) : fail("unavailable", outcome.error.message, true);
  }

  actors(): ActorView[] {
    const now = this.#options.clock.now();
    for (const ref of this.#records.keys()) this.#cell(ref);
    return [...this.#cells.values()].map((cell) => cell.view(now)).sort((a, b) => a.ref < b.ref ? -1 : 1);
  }

  hold(hold: Hold | undefined): void {
    this.#kernel.room.hold(hold);
  }

  stats(): RuntimeStats {
    return this.#kernel.meter.stats();
  }

  restart(ref: string): boolean {
    const cell = this.#cell(ref);
    cell?.restart();
    return cell !== undefined;
  }

  onChange(listener: (ref: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The cell of a ref; made when its kind is known. */
  #cell(ref: string): Cell | undefined {
    const known = this.#cells.get(ref);
    if (known) return known;
    const spec = this.#kinds.get(this.#options.vocabulary.kindOf(ref) ?? "");
    if (!spec) return undefined;
    let record = this.#records.get(ref);
    if (!record) this.#records.set(ref, record = freshRecord(ref, spec.kind));
    const cell = spec.mode === "pure"
      ? new PureCell(spec, record, this.#kernel)
      : new GatewayCell(spec, record, this.#kernel);
    this.#cells.set(ref, cell);
    return cell;
  }

  #dispatch(ref: string): void {
    if (!this.#running) return;
    if (ref === SUPERVISOR) return void this.#own.pump();
    const cell = this.#cell(ref);
    if (cell) return cell.pump();
    for (const mail of this.#kernel.room.box(ref).take(Infinity, Infinity)) {
      deadLetter(this.#kernel, mail, { code: "not_found", message: `there is no actor ${ref}` });
    }
  }

  #admit(cell: Cell): boolean {
    return this.#isCore(cell.ref) || this.#living.admit(cell);
  }

  #changed(ref: string): void {
    const cell = this.#cells.get(ref);
    if (cell instanceof PureCell && !this.#isCore(ref)) {
      this.#living.note(cell);
      if (cell.isLive && !cell.isStarting) this.#prepareFor(ref);
    }
    for (const listener of this.#listeners) listener(ref);
    this.#living.letInSoon();
  }

  /** An actor woke: the gateways that it is about to need are started, if they sleep. */
  #prepareFor(ref: string): void {
    const kind = this.#kinds.get(this.#options.vocabulary.kindOf(ref) ?? "");
    if (kind?.mode !== "pure") return;
    for (const gateway of kind.uses ?? []) this.#gateway(gateway)?.use();
  }

  #gateway(kind: string): GatewayCell | undefined {
    const cell = this.#cell(kind);
    return cell instanceof GatewayCell ? cell : undefined;
  }

  #tick(): void {
    const now = this.#options.clock.monotonic();
    for (const cell of this.#cells.values()) cell.tick(now);
    this.#living.letIn();
  }

  #isCore(ref: string): boolean {
    const kind = this.#kinds.get(this.#options.vocabulary.kindOf(ref) ?? "");
    return kind?.mode === "pure" && kind.placement === "core";
  }

  /** Waits until no actor has a message in hand, at most as long as is left. */
  async #quiet(cells: readonly PureCell[], left: () => number): Promise<void> {
    while (left() > 0 && cells.some((cell) => cell.isWorking)) {
      await new Promise<void>((resolve) =>
        this.#options.clock.after(Math.min(STOP_POLL_MS, left()), resolve)
      );
    }
  }

  #schedulePoll(): void {
    const waits = [...this.#kernel.room.refs()].some((ref) => this.#kernel.room.box(ref).queued() > 0);
    const { limits } = this.#kernel;
    const ms = waits ? limits.pollWaitingMs : limits.pollIdleMs;
    this.#cancelPoll = this.#options.clock.after(ms, () => {
      this.poke();
      this.#schedulePoll();
    });
  }
}
