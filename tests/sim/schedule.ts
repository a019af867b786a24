/**
 * Virtual time. Everything that happens in the simulation is an entry of one queue, run in order of its due time and then of its making; one
 * entry is one step. A `MachineClock` is one process's view of that time: it can be stopped (SIGSTOP) and ended (SIGKILL), after which
 * nothing of that process runs any more. Between two steps every promise callback runs, as in an event loop.
 */
import { setImmediate } from "node:timers";
import type { Clock } from "../../lib/clock.ts";

interface Entry {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

const START = 1_700_000_000_000;

/** The queue of all that is going to happen. */
export class Schedule {
  /** Milliseconds since the epoch, for everybody. */
  now = START;
  steps = 0;
  readonly #heap: Entry[] = [];
  #order = 0;

  /** Runs `run` after `ms`; the returned function takes it back. */
  after(ms: number, run: () => void): () => void {
    const entry: Entry = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(entry);
    return () => entry.run = undefined;
  }

  /** Runs the next entry and all promise callbacks that follow from it. False when nothing is left. */
  async step(): Promise<boolean> {
    for (let entry; (entry = this.#pop());) {
      const { run } = entry;
      if (!run) continue;
      this.now = Math.max(this.now, entry.at);
      this.steps++;
      run();
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    }
    return false;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, entry)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = heap[child];
      const right = heap[child + 1];
      if (left && right && isBefore(right, left)) child++;
      const least = heap[child];
      if (!least || isBefore(last, least)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || a.at === b.at && a.order < b.order;
}

/** Time as one process sees it. */
export class MachineClock implements Clock {
  state: "running" | "stopped" | "ended" = "running";
  /** Told of an error that nobody caught, which ends a process. */
  onCrash: (error: unknown) => void = () => {};
  readonly #schedule: Schedule;
  #backlog: (() => void)[] = [];

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  now(): number {
    return this.#schedule.now;
  }

  monotonic(): number {
    return this.#schedule.now;
  }

  after(ms: number, run: () => void): () => void {
    let cancelled = false;
    const cancel = this.#schedule.after(ms, () =>
      this.enter(() => {
        if (!cancelled) run();
      }));
    return () => {
      cancelled = true;
      cancel();
    };
  }

  /** Runs it in this process: at once, when it goes on, or never. */
  enter(run: () => void): void {
    if (this.state === "stopped") this.#backlog.push(run);
    if (this.state !== "running") return;
    try {
      run();
    } catch (error) {
      this.onCrash(error);
    }
  }

  stop(): void {
    if (this.state === "running") this.state = "stopped";
  }

  /** Goes on; what waited happens in order, each as a step of its own. */
  goOn(): void {
    if (this.state !== "stopped") return;
    this.state = "running";
    for (const run of this.#backlog.splice(0)) this.#schedule.after(0, () => this.enter(run));
  }

  end(): void {
    this.state = "ended";
    this.#backlog = [];
  }
}
