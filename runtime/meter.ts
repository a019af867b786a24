/**
 * Counts what the runtime does, since its start: commits and how long they took, ends of actors, dead letters. Only numbers in memory, cheap
 * enough for every message; what is true now (mailboxes, states) is read from the tree when somebody asks. Proven by `runtime_test.ts`.
 */
import { Histogram } from "../lib/histogram.ts";
import type { Sample } from "../lib/metrics.ts";
import type { DownReason } from "./supervise/judge_death.ts";

/** Counted things of one sort. */
export interface Tally {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A reading of the meter. */
export interface RuntimeStats {
  /** By `outcome`: `ok` or `refused`. */
  readonly commits: readonly Tally[];
  /** Seconds from handing a commit over to its being on disk. */
  readonly commitSeconds: readonly Sample[];
  /** By `kind` and `reason`. */
  readonly downs: readonly Tally[];
  /** By `kind` of the receiver. */
  readonly deadLetters: readonly Tally[];
}

const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts. */
export class Meter {
  readonly #commits = new Counter();
  readonly #seconds = new Histogram(COMMIT_SECONDS);
  readonly #downs = new Counter();
  readonly #deadLetters = new Counter();

  commit(ms: number, ok: boolean): void {
    this.#commits.add({ outcome: ok ? "ok" : "refused" });
    if (ok) this.#seconds.observe(ms / 1_000);
  }

  down(kind: string, reason: DownReason): void {
    this.#downs.add({ kind, reason });
  }

  deadLetter(to: string): void {
    this.#deadLetters.add({ kind: to.split("/")[0] ?? to });
  }

  stats(): RuntimeStats {
    return {
      commits: this.#commits.tallies(),
      commitSeconds: this.#seconds.samples(),
      downs: this.#downs.tallies(),
      deadLetters: this.#deadLetters.tallies(),
    };
  }
}

class Counter {
  readonly #counts = new Map<string, { labels: Record<string, string>; value: number }>();

  add(labels: Record<string, string>): void {
    const name = Object.values(labels).join("\n");
    const found = this.#counts.get(name);
    if (found) found.value++;
    else this.#counts.set(name, { labels, value: 1 });
  }

  tallies(): Tally[] {
    return [...this.#counts.values()].map((tally) => ({ ...tally }));
  }
}
