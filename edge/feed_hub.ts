/**
 * One reader of the feed for all streams of this process. It keeps the newest announcements, already made into stream events, so that a hundred
 * open pages cost one read; a stream that is further behind reads for itself. Promises order and no gap after any cursor that is still
 * kept. It knows neither who may see what (a stream asks per event) nor how bytes are written. Proven by `edge/stream_test.ts`.
 */
import type { Clock } from "../lib/clock.ts";
import type { Db } from "../store/db.ts";
import { feedAfter, feedBounds, type FeedRow } from "../store/queries/feed.ts";
import type { StreamEvent } from "./api.ts";
import { Wake } from "./wake.ts";

/** A stream event with its number and whom it concerns: a channel, a conversation outside channels (null), or everybody. */
export interface Announcement {
  readonly seq: number;
  readonly event: StreamEvent;
  readonly scope: { readonly channelId: number | null } | "everybody";
  /** Until when each person has put the item off: told to each of them alone. */
  readonly later?: Readonly<Record<string, number>>;
}

/** Turns feed rows into announcements; rows whose subject is gone give none. */
export type Describe = (rows: readonly FeedRow[]) => Promise<Announcement[]>;

/** What was read: the announcements, and the cursor after them (further than the last one when rows gave none). */
export interface FeedPage {
  readonly announcements: readonly Announcement[];
  readonly cursor: number;
}

/** What the hub needs. */
export interface FeedHubOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly describe: Describe;
  /** Told when the feed cannot be read; the hub tries again. */
  readonly onError: (error: unknown) => void;
}

const POLL_MS = 1_000;
const PAGE = 200;
const KEPT = 500;

/** See the file's comment. */
export class FeedHub {
  readonly #options: FeedHubOptions;
  readonly #moved: Wake;
  readonly #poll: Wake;
  #followers = 0;
  #told = false;
  #running: Promise<void> | undefined;
  #kept: Announcement[] = [];
  /** Everything after `#floor` up to `#head` is in `#kept`. */
  #floor = 0;
  #head = 0;

  constructor(options: FeedHubOptions) {
    this.#options = options;
    this.#moved = new Wake(options.clock);
    this.#poll = new Wake(options.clock);
  }

  /** How many streams follow now. */
  get followers(): number {
    return this.#followers;
  }

  /** Starts reading for one more stream; call the result once when it ends. */
  follow(): () => void {
    this.#followers++;
    this.#running ??= this.#run();
    return () => {
      this.#followers--;
      if (this.#followers === 0) this.#poll.ring();
    };
  }

  /** Says that rows were committed: the feed is read at once. */
  notify(): void {
    this.#told = true;
    this.#poll.ring();
  }

  /** Resolves when there is something after `cursor`, after `ms` milliseconds, or when the signal is aborted. */
  changed(cursor: number, ms: number, signal: AbortSignal): Promise<void> {
    // Looking again here closes the gap between reading and waiting.
    return this.#head > cursor ? Promise.resolve() : this.#moved.wait(ms, signal);
  }

  /** What comes after `cursor`, from memory when it is near the head, else from the database. Rejects with `DbError`. */
  async after(cursor: number): Promise<FeedPage> {
    if (cursor >= this.#floor && cursor <= this.#head && this.#running) {
      const fresh = this.#kept.filter((announcement) => announcement.seq > cursor).slice(0, PAGE);
      const full = fresh.length === PAGE;
      return { announcements: fresh, cursor: full ? fresh.at(-1)?.seq ?? cursor : this.#head };
    }
    return await this.#read(cursor);
  }

  /** Resolves when the reader has ended, which it does after the last stream. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#start();
    while (this.#followers > 0) {
      // What is told while a page is being read may not be in that page.
      this.#told = false;
      const more = await this.#advance();
      if (!more && !this.#told && this.#followers > 0) await this.#poll.wait(POLL_MS);
    }
    this.#running = undefined;
  }

  async #start(): Promise<void> {
    try {
      const { last } = await feedBounds(this.#options.db);
      this.#kept = [];
      this.#floor = last;
      this.#head = last;
      // A stream may have looked, and begun to wait, before this was known.
      this.#moved.ring();
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /** Reads one page; true when there was one. */
  async #advance(): Promise<boolean> {
    try {
      const page = await this.#read(this.#head);
      if (page.cursor === this.#head) return false;
      this.#kept.push(...page.announcements);
      this.#head = page.cursor;
      const dropped = this.#kept.splice(0, Math.max(0, this.#kept.length - KEPT));
      this.#floor = dropped.at(-1)?.seq ?? this.#floor;
      this.#moved.ring();
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }

  async #read(cursor: number): Promise<FeedPage> {
    const rows = await feedAfter(this.#options.db, cursor, PAGE);
    const announcements = await this.#options.describe(newest(rows));
    return { announcements, cursor: rows.at(-1)?.seq ?? cursor };
  }
}

/** Of several rows about one subject only the last is told: an event shows its subject as it is now. */
function newest(rows: readonly FeedRow[]): FeedRow[] {
  const last = new Map(rows.map((row) => [`${row.kind}/${row.ref}`, row.seq]));
  return rows.filter((row) => last.get(`${row.kind}/${row.ref}`) === row.seq);
}
