/**
 * Which of the many actors may live: at most `maxLive`, of which `starting` may be starting. Who may not yet waits, the longest waiting first; an
 * idle one is put to sleep for it, the least recently used first. Core actors and gateways do not count. Proven by `runtime/runtime_test.ts`
 * and `supervise/cells_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Limits } from "../limits.ts";
import type { Cell } from "./kernel.ts";
import type { PureCell } from "./pure_cell.ts";

/** How soon an idle actor makes room for one that waits. */
const ROOM_MS = 10;

/** The actors that live, and those that wait for a place. */
export class Living {
  readonly #limits: Pick<Limits, "maxLive" | "starting">;
  readonly #clock: Clock;
  readonly #waiting = new Set<Cell>();
  /** Kept, because counting them for each wake would be quadratic when many wake. */
  readonly #living = new Set<PureCell>();
  readonly #starting = new Set<PureCell>();
  #cancelRoom: (() => void) | undefined;
  #stopped = false;

  constructor(limits: Pick<Limits, "maxLive" | "starting">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Lets it live if there is room; else it is pumped when others have started, or an idle one has made room. */
  admit(cell: Cell): boolean {
    if (this.#hasRoom) {
      this.#waiting.delete(cell);
      return true;
    }
    this.#waiting.add(cell);
    if (!this.#cancelRoom) this.#makeRoom();
    return false;
  }

  /** Looks at what became of one of them. */
  note(cell: PureCell): void {
    keep(this.#living, cell, cell.isLive);
    keep(this.#starting, cell, cell.isStarting);
  }

  /** Wakes who waits, a moment later. */
  letInSoon(): void {
    if (this.#waiting.size > 0) queueMicrotask(() => this.letIn());
  }

  /** Wakes who waits, as far as there is room. */
  letIn(): void {
    for (const cell of this.#waiting) {
      if (!this.#hasRoom) return;
      this.#waiting.delete(cell);
      cell.pump();
    }
  }

  /** Makes no more room. */
  stop(): void {
    this.#stopped = true;
    this.#cancelRoom?.();
  }

  get #hasRoom(): boolean {
    return this.#living.size < this.#limits.maxLive && this.#starting.size < this.#limits.starting;
  }

  /** Puts idle ones to sleep for those that wait; looks again while somebody waits. */
  #makeRoom(): void {
    this.#cancelRoom = undefined;
    if (this.#stopped || this.#waiting.size === 0) return;
    this.#cancelRoom = this.#clock.after(ROOM_MS, () => this.#makeRoom());
    if (this.#living.size < this.#limits.maxLive) return;
    const idle = [...this.#living].flatMap((cell) => {
      const since = cell.idleSince;
      return since === undefined ? [] : [{ cell, since }];
    }).sort((a, b) => a.since - b.since);
    for (const { cell } of idle.slice(0, this.#waiting.size)) cell.sleep();
  }
}

function keep<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) set.add(item);
  else set.delete(item);
}
