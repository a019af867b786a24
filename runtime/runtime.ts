/**
 * The supervised, durable actor runtime: `createRuntime` puts its parts together. Owns the tree of actors, their mailboxes and processes. It
 * promises what each part promises: nothing is delivered before it is a row, handling is one commit, one actor's fault stays its own, and
 * no process outlives it. It knows no product: messages, operations, reads and kinds are parameters. Proven by `runtime_test.ts`.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../lib/clock.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Load } from "../store/read.ts";
import type { Envelope, Send } from "./actor.ts";
import { type ActorRecord, freshRecord, loadRecords, loseAll, wasAwake } from "./supervise/actor_record.ts";
import { type Outgoing, settling } from "./mail/built.ts";
import { CommitBuilder } from "./mail/commit_builder.ts";
import { Commits } from "./mail/commits.ts";
import { deadLetter } from "./mail/dead_letter.ts";
import { GatewayCell } from "./supervise/gateway_cell.ts";
import { Heartbeats } from "./supervise/heartbeats.ts";
import { HostPool } from "./supervise/host_pool.ts";
import type { Cell, Kernel } from "./supervise/kernel.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import type { Log } from "./log.ts";
import { Meter, type RuntimeStats } from "./meter.ts";
import type { EnvelopeParts } from "./mail/mail.ts";
import type { Hold } from "./mail/mailbox.ts";
import { MailRoom } from "./mail/mail_room.ts";
import { type OpenLink, openProcessLink } from "./link/process_link.ts";
import { gatewayProcess, hostSpec } from "./link/process_spec.ts";
import { PureCell } from "./supervise/pure_cell.ts";
import { type Tracer, Tracing } from "./tracing.ts";
import type { ActorView, Note } from "./tree.ts";
import type { CommitStore, GatewayKind, KindSpec, OpStatements, RunRead, Vocabulary } from "./vocabulary.ts";

/** What a runtime is made of. */
export interface RuntimeOptions {
  readonly store: CommitStore;
  readonly vocabulary: Vocabulary;
  readonly opStatements: OpStatements;
  readonly runRead: RunRead;
  readonly loads: Readonly<Record<string, Load>>;
  /** In start order: gateways and core actors start in it and stop in reverse. */
  readonly kinds: readonly KindSpec[];
  readonly clock: Clock;
  readonly newId: () => string;
  readonly random: () => number;
  readonly log: Log;
  readonly limits?: Partial<Limits>;
  /** Absolute path of `deno.json`, for child processes. */
  readonly denoConfig: string;
  /** Variables for child processes that Deno needs to find its cache: `DENO_DIR`, `HOME`. */
  readonly childEnv?: Readonly<Record<string, string>>;
  readonly openLink?: OpenLink;
  /** How long effects may still begin, in milliseconds by the monotonic clock. Default: for ever. */
  readonly leaseMs?: () => number;
  /** A message for the edge: ephemeral ones at once, durable ones when they are on disk. */
  readonly onEdge: (message: Envelope) => void;
  readonly onNote: (note: Note) => void;
  /** Makes spans of messages. Default: none are made. */
  readonly tracer?: Tracer | undefined;
  /** A message to `supervisor`; it is done when this resolves. */
  readonly onSupervisor: (message: Envelope) => Promise<void> | void;
}

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
/** How soon an idle conversation makes room for one that waits. */
const ROOM_MS = 10;

class Tree implements Runtime {
  readonly #options: RuntimeOptions;
  readonly #limits: Limits;
  readonly #kernel: Kernel;
  readonly #kinds: ReadonlyMap<string, KindSpec>;
  readonly #cells = new Map<string, Cell>();
  readonly #records = new Map<string, ActorRecord>();
  /** Conversations that may not live yet, the longest waiting first. */
  readonly #waiting = new Set<Cell>();
  /** Conversations that live. Kept, because counting them for each wake would be quadratic when many wake. */
  readonly #living = new Set<PureCell>();
  /** Those of them that are starting. */
  readonly #starting = new Set<PureCell>();
  #cancelRoom: (() => void) | undefined;
  readonly #listeners = new Set<(ref: string) => void>();
  #cancelPoll: (() => void) | undefined;
  #handlingOwn = false;
  #running = false;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#kinds = new Map(options.kinds.map((kind) => [kind.kind, kind]));
    this.#kernel = this.#makeKernel();
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
      if (kind.mode === "gateway" || kind.placement === "core") this.#cell(kind.kind)?.restart();
      else this.#kernel.pool.warm(toUrl(kind.entry));
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
    this.#cancelRoom?.();
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

  #makeKernel(): Kernel {
    const { store, vocabulary, opStatements, runRead, clock, newId, random, log } = this.#options;
    const limits = this.#limits;
    const meter = new Meter();
    const tracing = this.#options.tracer && new Tracing(this.#options.tracer);
    const openLink = this.#options.openLink ?? openProcessLink;
    const heartbeats = new Heartbeats(clock, limits.tickMs, () => this.#tick());
    const room: MailRoom = new MailRoom({
      db: store,
      clock,
      vocabulary,
      log,
      onMail: (ref) => this.#dispatch(ref),
      onWithdrawn: (mail) => this.#cells.get(mail.to)?.withdraw(mail.id),
      onRefused: (mail, error) => deadLetter(this.#kernel, mail, error),
      onHeld: ({ to, type }, { reason, since }) =>
        this.#options.onNote({ type: "held", ref: to, messageType: type, reason, since }),
      watcher: tracing,
    });
    const commits: Commits = new Commits({
      store,
      room,
      clock,
      bound: limits.mailbox,
      perKey: (to) => this.#kinds.get(vocabulary.kindOf(to) ?? "")?.mode === "gateway",
      onEphemeral: (message) => this.#onEphemeral(message),
      onEdge: (message, durable) => this.#options.onEdge(toEnvelope(message, durable)),
      onRefused: ({ type, ...refused }) =>
        this.#options.onNote({ ...refused, type: "refused", messageType: type }),
      meter,
      tracing,
    });
    const reserve = (to: string, key: string) => commits.reserve(to, key);
    const builder = new CommitBuilder({
      vocabulary,
      opStatements,
      now: () => clock.now(),
      newId,
      reserve,
      tracing,
    });
    const child = {
      config: this.#options.denoConfig,
      env: this.#options.childEnv ?? {},
      heapMb: limits.heapMb,
    };
    const read = [
      ...new Set(this.#options.kinds.flatMap((kind) => kind.mode === "pure" ? [dirname(kind.entry)] : [])),
    ];
    const spec = hostSpec(fileURLToPath(new URL("./host.ts", import.meta.url)), { ...child, read });
    const pool = new HostPool({ openLink, spec, limits, heartbeats, clock, log });
    return {
      limits,
      clock,
      newId,
      random,
      log,
      meter,
      db: store,
      room,
      commits,
      builder,
      pool,
      heartbeats,
      openLink,
      runRead,
      load: async (kind, id) => await this.#options.loads[kind]?.(store, id) ?? null,
      gatewaySpec: (kind: GatewayKind) => gatewayProcess(kind, { ...child, heapMb: limits.heapMb * 4 }),
      leaseMs: this.#options.leaseMs ?? (() => Infinity),
      admit: (cell) => this.#admit(cell),
      changed: (ref) => this.#changed(ref),
      note: (note) => this.#options.onNote(note),
    };
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
    if (ref === "supervisor") return void this.#handleOwn();
    const cell = this.#cell(ref);
    if (cell) return cell.pump();
    for (const mail of this.#kernel.room.box(ref).take(Infinity, Infinity)) {
      deadLetter(this.#kernel, mail, { code: "not_found", message: `there is no actor ${ref}` });
    }
  }

  /** Messages to the supervisor itself, one after the other. */
  async #handleOwn(): Promise<void> {
    if (this.#handlingOwn) return;
    this.#handlingOwn = true;
    const box = this.#kernel.room.box("supervisor");
    for (let mail; this.#running && (mail = box.take(this.#options.clock.now(), 1)[0]);) {
      try {
        const message = toEnvelope({ ...mail, payload: JSON.parse(mail.payload) }, true);
        await this.#options.onSupervisor(message);
        box.remove(mail.id);
        await this.#kernel.commits.run(mail.id, settling(mail.id));
      } catch (error) {
        deadLetter(this.#kernel, mail, { code: "bad_request", message: String(error) });
      }
    }
    this.#handlingOwn = false;
  }

  #onEphemeral(message: Outgoing): void {
    const parts: EnvelopeParts = { ...message, payload: JSON.stringify(message.payload) };
    this.#cells.get(message.to)?.ephemeral(parts);
  }

  /** Whether one more conversation may start to live. */
  get #hasRoom(): boolean {
    return this.#living.size < this.#limits.maxLive && this.#starting.size < this.#limits.starting;
  }

  /** Lets a conversation live if there is room; else it waits until others have started, or an idle one has made room. */
  #admit(cell: Cell): boolean {
    if (this.#isCore(cell.ref)) return true;
    if (this.#hasRoom) {
      this.#waiting.delete(cell);
      return true;
    }
    this.#waiting.add(cell);
    if (!this.#cancelRoom) this.#makeRoom();
    return false;
  }

  /** Puts idle conversations to sleep for those that wait, the least recently used first; looks again while somebody waits. */
  #makeRoom(): void {
    this.#cancelRoom = undefined;
    if (!this.#running || this.#waiting.size === 0) return;
    this.#cancelRoom = this.#options.clock.after(ROOM_MS, () => this.#makeRoom());
    if (this.#living.size < this.#limits.maxLive) return;
    const idle = [...this.#living].flatMap((cell) => {
      const since = cell.idleSince;
      return since === undefined ? [] : [{ cell, since }];
    }).sort((a, b) => a.since - b.since);
    for (const { cell } of idle.slice(0, this.#waiting.size)) cell.sleep();
  }

  #changed(ref: string): void {
    const cell = this.#cells.get(ref);
    if (cell instanceof PureCell && !this.#isCore(ref)) {
      keep(this.#living, cell, cell.isLive);
      keep(this.#starting, cell, cell.isStarting);
    }
    for (const listener of this.#listeners) listener(ref);
    if (this.#waiting.size > 0) queueMicrotask(() => this.#letIn());
  }

  /** Wakes who waits, as far as there is room. */
  #letIn(): void {
    for (const cell of this.#waiting) {
      if (!this.#hasRoom) return;
      this.#waiting.delete(cell);
      cell.pump();
    }
  }

  #tick(): void {
    const now = this.#options.clock.monotonic();
    for (const cell of this.#cells.values()) cell.tick(now);
    this.#letIn();
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
    const ms = waits ? this.#limits.pollWaitingMs : this.#limits.pollIdleMs;
    this.#cancelPoll = this.#options.clock.after(ms, () => {
      this.poke();
      this.#schedulePoll();
    });
  }
}

function keep<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) set.add(item);
  else set.delete(item);
}

function toUrl(path: string): string {
  return new URL(`file://${path}`).href;
}

function toEnvelope(
  message: Omit<Outgoing, "cause" | "traceparent"> & {
    readonly cause?: string | null | undefined;
    readonly traceparent?: string | null | undefined;
  },
  durable: boolean,
): Envelope {
  const { id, to, from, type, payload, lane, at, cause, traceparent } = message;
  return {
    id,
    v: 1,
    to,
    from,
    type,
    payload,
    lane,
    durable,
    at,
    cause: cause ?? undefined,
    traceparent: traceparent ?? undefined,
  };
}
