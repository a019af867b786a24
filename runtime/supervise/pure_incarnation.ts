/**
 * One life of a pure actor: a Worker, the messages in its hands, and its decisions on their way to disk. Decisions of one actor are committed
 * in order, all that wait in one go; actors do not wait for each other. Promises that `onDown` comes exactly once, after every decision
 * that was made in time has been committed, and that nothing is committed after a refused one. Proven by `runtime/runtime_test.ts`.
 */
import type { FromWorker, WorkerCommit } from "../link/link_messages.ts";
import { type Built, merge, plain } from "../mail/built.ts";
import type { Author } from "../mail/commit_builder.ts";
import type { Kernel } from "./kernel.ts";
import { type EnvelopeParts, envelopeText, type Mail } from "../mail/mail.ts";
import type { Mailbox } from "../mail/mailbox.ts";
import type { Placement } from "./host_pool.ts";
import type { Seat, SeatEnd, SeatUser } from "./pure_host.ts";
import type { Statement } from "../../store/db.ts";

/** A message in the Worker's hands; only durable ones have mail. */
interface Held {
  readonly id: string;
  readonly mail?: Mail | undefined;
  readonly traceparent?: string | null | undefined;
}

interface Decided {
  readonly held: Held;
  readonly commit: WorkerCommit;
}

/** Whose life it is and who hears of it. */
export interface IncarnationOptions {
  readonly ref: string;
  readonly kind: string;
  readonly number: number;
  readonly entry: string;
  readonly placement: Placement;
  readonly box: Mailbox;
  readonly kernel: Kernel;
  /** Rows of its beginning: they are written with the first thing it commits, which saves the wake one write to disk. */
  readonly preamble: readonly Statement[];
  /** A durable message is done. */
  readonly onCommitted: () => void;
  /** Room in its hands. */
  readonly onRoom: () => void;
  /** It runs now, and has its state. */
  readonly onReady: () => void;
  /** `head`: the message that it was at. */
  readonly onDown: (end: SeatEnd, head: Mail | undefined) => void;
}

const MAX_EPHEMERAL_IN_HAND = 256;

/** A Worker at work for one actor. */
export class PureIncarnation implements SeatUser {
  readonly ref: string;
  readonly seat: Seat;
  readonly #options: IncarnationOptions;
  readonly #kernel: Kernel;
  #held: Held[] = [];
  #decided: Decided[] = [];
  #committing: Promise<void> | undefined;
  #started = false;
  #roomTold = false;
  #over = false;
  #nextEvent: number | undefined;
  #preamble: readonly Statement[];
  /** Monotonic time of the last sign of work. */
  lastActive: number;

  constructor(options: IncarnationOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
    this.#preamble = options.preamble;
    this.ref = options.ref;
    this.lastActive = options.kernel.clock.monotonic();
    this.seat = options.kernel.pool.seat(toUrl(options.entry), options.placement, this);
  }

  get isLive(): boolean {
    return this.#started && this.seat.ready && !this.#over;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** What of its beginning is not on disk yet. */
  get preamble(): readonly Statement[] {
    return this.#preamble;
  }

  isBusy(): boolean {
    return this.#held.length > 0;
  }

  isIdle(): boolean {
    return this.#started && this.#held.length === 0 && this.#decided.length === 0 && !this.#committing;
  }

  /** Gives the Worker its state, the news that it woke, and due mail. */
  start(loaded: unknown, woke: EnvelopeParts, window: number): void {
    if (this.#over) return;
    this.#started = true;
    this.#held.push({ id: woke.id });
    const head = JSON.stringify({ t: "start", ref: this.ref, incarnation: this.#options.number, loaded });
    const mail = this.#take(window - this.#held.length);
    this.seat.send(`${head.slice(0, -1)},"woke":${envelopeText(woke, false)},"messages":${mail ?? "[]"}}`);
    if (this.isLive) this.#options.onReady();
  }

  /** Hands over due mail, at most `window` messages at once in all. */
  fill(window: number): void {
    const mail = this.#started && !this.#over ? this.#take(window - this.#held.length) : undefined;
    if (mail !== undefined) this.seat.send(`{"t":"deliver","messages":${mail}}`);
  }

  ephemeral(message: EnvelopeParts): void {
    if (!this.#started || this.#over || this.#held.length >= MAX_EPHEMERAL_IN_HAND) return;
    this.lastActive = this.#kernel.clock.monotonic();
    this.#held.push({ id: message.id, traceparent: message.traceparent });
    this.seat.send(`{"t":"deliver","messages":[${envelopeText(message, false)}]}`);
  }

  onMessage(message: FromWorker): void {
    switch (message.t) {
      case "ready":
        if (this.isLive) this.#options.onReady();
        return;
      case "commit":
        return this.#onCommit(message);
      case "commits":
        for (const commit of message.commits) this.#onCommit(commit);
        return;
      case "log":
        return this.#kernel.log(message.level, message.text, { ...message.facts, ref: this.ref });
      case "beat":
      case "heap":
      case "bye":
        return;
      default:
        return message satisfies never;
    }
  }

  /**
   * What was answered before a throw is told before it, so the first one open threw. The answers to one delivery come together: of several in the
   * hands of a Worker that hung, or whose heap was full, any may be guilty, and none is blamed. The next life has one at a time.
   */
  onEnd(end: SeatEnd): void {
    const isSure = end.reason === "error" || this.#held.length === 1;
    this.#finish(end, isSure ? this.#held[0]?.mail : undefined);
  }

  /** Ends the Worker on our account. */
  end(end: SeatEnd): void {
    if (this.#over) return;
    this.#kernel.pool.release(this.seat);
    this.#finish(end, this.#held[0]?.mail);
  }

  /** Resolves when nothing of it is on its way to disk any more. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  #finish(end: SeatEnd, head: Mail | undefined): void {
    if (this.#over) return;
    this.#over = true;
    // What it had decided before counts: those frames came from a good life.
    void (async () => {
      await this.#committing;
      this.#options.onDown(end, head);
    })();
  }

  #onCommit(commit: WorkerCommit): void {
    if (this.#over) return;
    const held = this.#held.shift();
    if (!held || held.id !== commit.id) {
      if (held) this.#held.unshift(held);
      return this.end({ reason: "error", detail: "it answered a message that it was not at", suspect: true });
    }
    this.lastActive = this.#kernel.clock.monotonic();
    this.#tellRoom();
    if (!held.mail && this.#isLight(held, commit)) return;
    this.#decided.push({ held, commit });
    this.#committing ??= this.#commitAll().finally(() => this.#committing = undefined);
  }

  /** Takes due mail into its hands: its envelopes as JSON, or undefined when there is none. */
  #take(room: number): string | undefined {
    if (room <= 0) return undefined;
    const mails = this.#options.box.take(this.#kernel.clock.now(), room);
    if (mails.length === 0) return undefined;
    this.lastActive = this.#kernel.clock.monotonic();
    for (const mail of mails) this.#held.push({ id: mail.id, mail, traceparent: mail.traceparent });
    return `[${mails.map((mail) => envelopeText(mail, true)).join(",")}]`;
  }

  /** Once for all answers that came in one frame, so that the next messages travel together too. */
  #tellRoom(): void {
    if (this.#roomTold) return;
    this.#roomTold = true;
    queueMicrotask(() => {
      this.#roomTold = false;
      this.#options.onRoom();
    });
  }

  /** Deals at once with the answer to an ephemeral message that has nothing for the disk. */
  #isLight(held: Held, commit: WorkerCommit): boolean {
    if (commit.events || commit.ops) return false;
    if (!commit.send) return true;
    const built = this.#kernel.builder.build(this.#author(held), commit);
    if (!built.ok) return false;
    if (built.value.statements.length > 0) {
      // It is built again with the others, in its turn.
      this.#kernel.commits.release(built.value);
      return false;
    }
    this.#kernel.commits.emit(built.value);
    return true;
  }

  async #commitAll(): Promise<void> {
    // One turn later, so that answers that came in one frame share a commit.
    await Promise.resolve();
    while (this.#decided.length > 0) {
      const batch = this.#decided.splice(0, this.#kernel.limits.window);
      const parts: { decided: Decided; built: Built }[] = [];
      let refusal: { decided: Decided; error: { code: string; message: string } } | undefined;
      for (const decided of batch) {
        const built = this.#build(decided);
        if (built.ok) parts.push({ decided, built: built.value });
        else {
          refusal = { decided, error: built.error };
          break;
        }
      }
      refusal = await this.#commit(parts) ?? refusal;
      if (refusal) return await this.#refuse(refusal.decided, refusal.error);
    }
  }

  /** Commits in one go, or one by one up to the guilty one when that is refused. */
  async #commit(
    parts: readonly { decided: Decided; built: Built }[],
  ): Promise<{ decided: Decided; error: { code: string; message: string } } | undefined> {
    const [first] = parts;
    if (!first) return undefined;
    // The end of the life before this one is on disk first.
    const built = merge([plain(this.#preamble), ...parts.map((part) => part.built)]);
    const outcome = await this.#kernel.commits.run(first.decided.held.id, built, this.ref);
    if (outcome.ok) {
      this.#preamble = [];
      for (const { decided } of parts) this.#settle(decided.held);
      return undefined;
    }
    if (parts.length === 1) {
      this.#kernel.commits.release(first.built);
      return { decided: first.decided, error: outcome.error };
    }
    for (const [index, part] of parts.entries()) {
      const refusal = await this.#commit([part]);
      if (!refusal) continue;
      for (const { built } of parts.slice(index + 1)) this.#kernel.commits.release(built);
      return refusal;
    }
    return undefined;
  }

  #build({ held, commit }: Decided) {
    const done = held.mail?.id;
    const checkEvents = this.#nextEvent === undefined;
    for (const event of commit.events ?? []) {
      if (this.#nextEvent !== undefined && event.seq !== this.#nextEvent) {
        const message = `event ${event.seq} does not follow; ${this.#nextEvent} does`;
        return { ok: false, error: { code: "conflict", message } } as const;
      }
      this.#nextEvent = event.seq + 1;
    }
    return this.#kernel.builder.build(this.#author(held), commit, { done, checkEvents });
  }

  #author(held: Held): Author {
    return { ref: this.ref, kind: this.#options.kind, cause: { id: held.id, traceparent: held.traceparent } };
  }

  #settle(held: Held): void {
    if (!held.mail) return;
    this.#options.box.remove(held.id);
    this.#options.onCommitted();
  }

  /** A refused commit ends this life: its state has run ahead of the rows. */
  async #refuse(decided: Decided, error: { code: string; message: string }): Promise<void> {
    this.#decided = [];
    const { mail } = decided.held;
    const gone = mail !== undefined && await this.#kernel.room.isClosed(mail.id);
    if (gone && mail) this.#options.box.remove(mail.id);
    const detail = gone
      ? "a message that it had in hand was withdrawn"
      : `its commit was refused: ${error.code}: ${error.message}`;
    if (!this.#over) this.#kernel.pool.release(this.seat);
    this.#committing = undefined;
    this.#finish({ reason: gone ? "lost" : "error", detail, suspect: !gone }, gone ? undefined : mail);
  }
}

function toUrl(path: string): string {
  return path.startsWith("file:") ? path : new URL(`file://${path}`).href;
}
