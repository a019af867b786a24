/** What a measure is to `main.ts`, and what it may use while it runs. Only types. */
import type { Row } from "./table.ts";

/** What a measure gets. */
export interface Bench {
  /** An empty folder that is removed afterwards. */
  folder(): Promise<string>;
  /** Tells a person at the terminal what happens. */
  say(text: string): void;
  /** Fewer repetitions, to see whether it runs at all. */
  readonly quick: boolean;
  /** Also the peers that are slow to fetch and to run. */
  readonly allPeers: boolean;
}

/** One thing to measure. Rejects when it cannot be measured at all; a peer that cannot be had is only told of. */
export interface Measure {
  readonly name: string;
  readonly about: string;
  run(bench: Bench): Promise<Row[]>;
}
