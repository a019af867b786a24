/**
 * All mailboxes, and the one way into them. Rows come from our own commits and from others (the edge); either way a receiver gets them in the
 * order of `seq`: a gap in what our commits returned means that somebody else wrote in between, so the database is asked before anything
 * later is let in. A foreign row that the catalogue refuses is handed to `onRefused` instead. Proven by `runtime/runtime_test.ts`.
 */
import { type Clock, sleep } from "../../lib/clock.ts";
import { fail, type Failure, type Result } from "../../lib/result.ts";
import type { Db } from "../../store/db.ts";
import { sql } from "../../store/db.ts";
import type { Log } from "../log.ts";
import { type Mail, openMail, readMail } from "./mail.ts";
import { type HandsWatcher, type Hold, Mailbox } from "./mailbox.ts";
import type { Vocabulary } from "../vocabulary.ts";

/** What the room needs. */
export interface MailRoomOptions {
  readonly db: Pick<Db, "queryAll">;
  readonly clock: Clock;
  readonly vocabulary: Vocabulary;
  readonly log: Log;
  /** A mailbox got something. */
  readonly onMail: (ref: string) => void;
  /** A message in an actor's hands was withdrawn by a newer one. */
  readonly onWithdrawn: (mail: Mail) => void;
  readonly onRefused: (mail: Mail, error: Failure) => void;
  /** A message waits because of the hold. */
  readonly onHeld: (mail: Mail, hold: Hold) => void;
  readonly watcher?: HandsWatcher | undefined;
}

const PAGE = 1_000;
/** How long to wait before a question is asked again that the database did not answer, in milliseconds. */
const RETRY_MS = 200;

/** The mailboxes. */
export class MailRoom {
  readonly #options: MailRoomOptions;
  readonly #boxes = new Map<string, Mailbox>();
  /** Own mail that waits for a gap before it to be looked into. */
  readonly #ahead = new Map<number, Mail | undefined>();
  /** Everything up to here has been seen. */
  #cursor = 0;
  #polling: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #hold: Hold | undefined;

  constructor(options: MailRoomOptions) {
    this.#options = options;
  }

  /** The mailbox of one actor. */
  box(ref: string): Mailbox {
    let box = this.#boxes.get(ref);
    if (!box) {
      const { watcher } = this.#options;
      this.#boxes.set(ref, box = new Mailbox({ watcher, hold: this.#hold }));
    }
    return box;
  }

  /** Holds back what matches in every mailbox, or nothing any more. */
  hold(hold: Hold | undefined): void {
    this.#hold = hold;
    for (const [ref, box] of this.#boxes) {
      for (const mail of box.hold(hold)) if (hold) this.#options.onHeld(mail, hold);
      if (!hold) this.#options.onMail(ref);
    }
  }

  refs(): IterableIterator<string> {
    return this.#boxes.keys();
  }

  close(): void {
    this.#closed = true;
  }

  /** Lets in what our own commit inserted, in any order. `others`: `seq` of its rows that are nobody's mail, which would else look like gaps. */
  admit(mails: readonly Mail[], others: readonly number[] = []): void {
    for (const seq of others) if (seq > this.#cursor) this.#ahead.set(seq, undefined);
    for (const mail of mails) if (mail.seq > this.#cursor) this.#ahead.set(mail.seq, mail);
    this.#advance();
    if (this.#ahead.size > 0) this.poke();
  }

  /** Looks for rows of others. Many calls make few queries. */
  poke(): void {
    if (this.#polling) this.#again = true;
    else if (!this.#closed) this.#polling = this.#poll().finally(() => this.#polling = undefined);
  }

  /**
   * Whether the row is done, dead or withdrawn. Asks until the database answers, because handling it once more is no way to find out;
   * only a closed room takes no answer for "open".
   */
  async isClosed(id: string): Promise<boolean> {
    for (;;) {
      try {
        const [rows] = await this.#options.db.queryAll([sql("SELECT state FROM messages WHERE id = ?", id)]);
        const state = rows?.rows[0]?.[0];
        return state !== "queued" && state !== "started";
      } catch {
        if (this.#closed) return false;
        await sleep(this.#options.clock, RETRY_MS);
      }
    }
  }

  /** Resolves when no query is under way. */
  async settled(): Promise<void> {
    while (this.#polling) await this.#polling;
  }

  /** The first look: every open row. Rejects with `DbError`. */
  async load(): Promise<void> {
    while (await this.#page());
  }

  async #poll(): Promise<void> {
    do {
      this.#again = false;
      try {
        while (await this.#page());
      } catch (error) {
        // The next poll asks again.
        this.#options.log("warn", "looking for new messages failed", { error: String(error) });
        return;
      }
    } while (this.#again && !this.#closed);
  }

  /** Reads one page; true when there may be more. */
  async #page(): Promise<boolean> {
    const cursor = this.#cursor;
    const [rows, top] = await this.#options.db.queryAll([
      openMail(cursor, PAGE),
      sql("SELECT max(seq) FROM messages"),
    ]);
    if (!rows || !top || this.#closed) return false;
    const page = readMail(rows);
    const full = page.length === PAGE;
    const highest = top.rows[0]?.[0];
    const until = full ? page.at(-1)?.mail.seq ?? cursor : typeof highest === "number" ? highest : 0;
    for (const { mail, v } of page) {
      if (mail.seq <= this.#cursor) continue;
      const own = this.#ahead.get(mail.seq);
      if (own) this.#deliver(own);
      else this.#admitForeign(mail, v);
      this.#ahead.delete(mail.seq);
    }
    this.#cursor = Math.max(this.#cursor, until);
    for (const seq of [...this.#ahead.keys()]) if (seq <= this.#cursor) this.#ahead.delete(seq);
    this.#advance();
    return full;
  }

  #advance(): void {
    while (this.#ahead.has(this.#cursor + 1)) {
      const mail = this.#ahead.get(++this.#cursor);
      this.#ahead.delete(this.#cursor);
      if (mail) this.#deliver(mail);
    }
  }

  #admitForeign(mail: Mail, v: number): void {
    const checked = this.#check(mail, v);
    if (checked.ok) return this.#deliver(mail);
    this.#options.onRefused(mail, checked.error);
  }

  #check(mail: Mail, v: number): Result<unknown> {
    if (v !== 1) return fail("unknown_type", `version ${v} of "${mail.type}" is not known`);
    let payload: unknown;
    try {
      payload = JSON.parse(mail.payload);
    } catch {
      return fail("bad_request", `"${mail.type}": the payload is no JSON`);
    }
    return this.#options.vocabulary.check(mail.from, { to: mail.to, type: mail.type, payload });
  }

  #deliver(mail: Mail): void {
    const box = this.box(mail.to);
    if (mail.replaces !== null) {
      for (const old of box.replacedBy(mail.replaces, mail.seq)) {
        const inHand = box.get(old.id) !== undefined;
        if (inHand) this.#options.onWithdrawn(old);
        else box.remove(old.id);
      }
    }
    if (!box.add(mail)) return;
    if (this.#hold?.matches(mail)) this.#options.onHeld(mail, this.#hold);
    else this.#options.onMail(mail.to);
  }
}
