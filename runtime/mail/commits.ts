/**
 * Makes built commits: hands them to the store, tries again what may pass, and only then lets their messages go on. Promises that no message
 * is delivered, and nothing shown at the edge, before it is on disk; that ephemeral messages of a commit follow it. Also counts the places
 * that commits under way have taken in mailboxes. Proven by `runtime/runtime_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import { sleep } from "../../lib/clock.ts";
import type { Statement } from "../../store/db.ts";
import { type Built, compose, insertedMail, insertedRows, type Outgoing, plain } from "./built.ts";
import type { MailRoom } from "./mail_room.ts";
import type { Meter } from "../meter.ts";
import type { Tracing } from "../tracing.ts";
import type { CommitStore, StoreCommit } from "../vocabulary.ts";

/** What came of a commit. */
export type CommitOutcome = { readonly ok: true } | {
  readonly ok: false;
  readonly error: { readonly code: string; readonly message: string };
};

/** What committing needs. */
export interface CommitsOptions {
  readonly store: Pick<CommitStore, "commit">;
  readonly room: MailRoom;
  readonly clock: Clock;
  /** Most queued normal messages of a receiver (or of one key of it, where `perKey` says so). */
  readonly bound: number;
  readonly perKey: (to: string) => boolean;
  readonly onEphemeral: (message: Outgoing) => void;
  readonly onEdge: (message: Outgoing, durable: boolean) => void;
  readonly onRefused: (refused: Built["refused"][number]) => void;
  readonly meter: Pick<Meter, "commit">;
  readonly tracing?: Pick<Tracing, "commit" | "sent" | "unsent"> | undefined;
}

const RETRY_MS = 200;

/** Runs commits. */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #reserved = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<CommitOutcome>>();
  /** The last write of each id that is under way. */
  readonly #writes = new Map<string, Promise<CommitOutcome>>();

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  /** Commits and lets the messages go on; after the writes of the id `after`, when one is given. Never rejects. */
  run(id: string, built: Built, after?: string): Promise<CommitOutcome> {
    const before = after === undefined ? undefined : this.#writes.get(after);
    const running = before ? before.then(() => this.#run(id, built)) : this.#run(id, built);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /** Commits statements that send nothing. Those of one id are written in their order, also when one has to be tried again. */
  write(id: string, statements: readonly Statement[]): Promise<CommitOutcome> {
    const writing = this.run(id, plain(statements), id);
    this.#writes.set(id, writing);
    void writing.then(() => {
      if (this.#writes.get(id) === writing) this.#writes.delete(id);
    });
    return writing;
  }

  /** What needs no commit: ephemeral messages. */
  emit(built: Built): void {
    for (const refused of built.refused) this.#options.onRefused(refused);
    for (const message of built.ephemeral) this.#emitOne(message);
  }

  /** Takes a place in a mailbox; false when it is full. */
  reserve(to: string, key: string): boolean {
    const byKey = this.#options.perKey(to);
    const place = placeOf(to, byKey ? key : "");
    const taken = this.#reserved.get(place) ?? 0;
    if (this.#options.room.box(to).queued(byKey ? key : undefined) + taken >= this.#options.bound) {
      return false;
    }
    this.#reserved.set(place, taken + 1);
    return true;
  }

  /** Gives up the places of a commit that will not be made. */
  release(built: Built): void {
    for (const { id } of built.edge) this.#options.tracing?.unsent(id);
    for (const { mail } of built.mail) {
      this.#options.tracing?.unsent(mail.id);
      if (mail.lane !== "normal") continue;
      const place = placeOf(mail.to, this.#options.perKey(mail.to) ? mail.key : "");
      const taken = (this.#reserved.get(place) ?? 0) - 1;
      if (taken > 0) this.#reserved.set(place, taken);
      else this.#reserved.delete(place);
    }
  }

  /** Resolves when no commit is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Stops trying again. */
  close(): void {
    this.#closing.abort();
  }

  async #run(id: string, built: Built): Promise<CommitOutcome> {
    const { store, room, clock, meter, tracing } = this.#options;
    const since = clock.monotonic();
    const traced = tracing?.commit(built.done);
    const { statements, offset } = compose(built, clock.now());
    let result: StoreCommit;
    for (;;) {
      result = await store.commit({ id, statements }).catch(gone);
      if (result.ok || !result.error.retry || this.#closing.signal.aborted) break;
      await sleep(clock, RETRY_MS, this.#closing.signal).catch(() => {}); // aborted: the next answer is the last
    }
    meter.commit(clock.monotonic() - since, result.ok);
    traced?.(result.ok);
    if (!result.ok) return result;
    if (tracing) {
      for (const { id } of [...built.mail.map(({ mail }) => mail), ...built.edge]) tracing.sent(id);
    }
    this.release(built);
    room.admit(insertedMail(built, result.rows, offset), insertedRows(built, result.rows, offset));
    if (result.recovered) room.poke();
    for (const message of built.edge) this.#options.onEdge(message, true);
    this.emit(built);
    return { ok: true };
  }

  #emitOne(message: Outgoing): void {
    if (message.to === "edge") this.#options.onEdge(message, false);
    else this.#options.onEphemeral(message);
  }
}

/** A store rejects only when it is gone; whoever opened it hears of that by itself. */
function gone(error: unknown): StoreCommit {
  return { ok: false, error: { code: "unavailable", message: String(error), retry: false } };
}

function placeOf(to: string, key: string): string {
  return `${to}\n${key}`;
}
