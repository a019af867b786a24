/**
 * How much memory each process of the tree takes: its proportional set size, in which shared pages are split among their users. Asking is
 * free: the answer is the last known one, and a new look is taken at most every five seconds, only while somebody asks. Knows nothing where
 * the kernel has no `/proc`. Proven by `memory_meter_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { ActorView } from "../../runtime/tree.ts";

/** Reads `smaps_rollup` of these processes as `grep -H ^Pss:` prints it; those that are gone are missing. */
export type ReadPss = (pids: readonly number[]) => Promise<string>;

/** What the meter needs. */
export interface MemoryMeterOptions {
  readonly clock: Clock;
  readonly read: ReadPss;
}

const LOOK_EVERY_MS = 5_000;

/** Measures processes. */
export class MemoryMeter {
  readonly #options: MemoryMeterOptions;
  #known: ReadonlyMap<number, number> = new Map();
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(options: MemoryMeterOptions) {
    this.#options = options;
  }

  /** The same actors, each with the mebibytes of its process where they are known. */
  annotate(actors: readonly ActorView[]): ActorView[] {
    this.#look(new Set(actors.flatMap(({ pid }) => pid ?? [])));
    return actors.map((actor) => {
      const pssMb = actor.pid === undefined ? undefined : this.#known.get(actor.pid);
      return pssMb === undefined ? actor : { ...actor, pssMb };
    });
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  #look(pids: ReadonlySet<number>): void {
    const now = this.#options.clock.monotonic();
    if (this.#looking || pids.size === 0 || now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    this.#looking = this.#options.read([...pids])
      .then((text) => void (this.#known = parsePss(text)))
      // Only a number on a page: without it there is none.
      .catch(() => {})
      .finally(() => this.#looking = undefined);
  }
}

/** Mebibytes by process, from lines such as `/proc/12/smaps_rollup:Pss:  3456 kB`. */
export function parsePss(text: string): Map<number, number> {
  const found = text.matchAll(/^\/proc\/(\d+)\/smaps_rollup:Pss:\s+(\d+) kB$/gm);
  return new Map([...found].map(([, pid, kib]) => [Number(pid), Math.round(Number(kib) / 102.4) / 10]));
}

/** By `grep`: Deno lets a program read below `/proc` only with all permissions. */
export async function readPss(pids: readonly number[]): Promise<string> {
  const files = pids.map((pid) => `/proc/${pid}/smaps_rollup`);
  const { stdout } = await new Deno.Command("grep", {
    args: ["-sH", "^Pss:", ...files],
    stdin: "null",
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
