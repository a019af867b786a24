/**
 * Watches the free space of the data folder. While there is too little, conversations get no new messages of people and schedules, so no new
 * turn starts; everything under way goes on, because it needs little and is lost otherwise. Nothing is refused: what was said stays a row and
 * is delivered when there is room again. With no room at all everything waits, and it says that. Proven by `watch_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Hold } from "../../runtime/mail/mailbox.ts";

/** Below this no new turn starts, in bytes. */
export const LEAST_FREE_BYTES = 200_000_000;

/** There must be this much before they start again, so that a level near the limit does not flap. */
export const ENOUGH_FREE_BYTES = 220_000_000;

/** Less than this is no room at all: the file system keeps some, and a commit needs a few pages. */
const NO_ROOM_BYTES = 1_000_000;

const LOOK_EVERY_MS = 5_000;
const REASON = "less than 200 MB are free on the server's disk, so no new turn starts";
const FULL =
  "the server's disk is full: nothing can be written, and what is under way waits until there is room; free some space";

/** What the watch needs. */
export interface DiskWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Free bytes in the data folder. */
  readonly freeBytes: () => Promise<number>;
  readonly hold: (hold: Hold | undefined) => void;
}

/** Looks every five seconds. */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  #hold: Hold | undefined;
  #isFull = false;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
  }

  /** Resolves after the first look; later ones come by themselves. */
  async start(): Promise<void> {
    await this.#look();
    if (!this.#stopped) this.#cancel = this.#options.clock.after(LOOK_EVERY_MS, () => void this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  /** Words for people while there is too little room. */
  notices(): string[] {
    if (this.#isFull) return [FULL];
    return this.#hold ? [REASON] : [];
  }

  async #look(): Promise<void> {
    const { freeBytes, clock, log, hold } = this.#options;
    let free: number;
    try {
      free = await freeBytes();
    } catch (error) {
      // What cannot be measured changes nothing.
      return log("warn", "the free space of the data folder cannot be read", { cause: String(error) });
    }
    if (this.#stopped) return;
    const isFull = free < NO_ROOM_BYTES;
    if (isFull && !this.#isFull) log("error", FULL, { free });
    this.#isFull = isFull;
    if (!this.#hold && free < LEAST_FREE_BYTES) {
      this.#hold = { since: clock.now(), reason: REASON, matches: startsTurn };
      log("error", "the disk is nearly full: no new turn starts", { free });
      hold(this.#hold);
    } else if (this.#hold && free >= ENOUGH_FREE_BYTES) {
      this.#hold = undefined;
      log("info", "there is room on the disk again: turns start", { free });
      hold(undefined);
    }
  }
}

/** The one message by which people and schedules begin a turn. */
function startsTurn({ type }: { readonly type: string }): boolean {
  return type === "conversation.message";
}
