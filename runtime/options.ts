/** What `createRuntime` must be given: the product's vocabulary, kinds and store, and everything of the outside world that it uses. */
import type { Clock } from "../lib/clock.ts";
import type { Load } from "../store/read.ts";
import type { Envelope } from "./actor.ts";
import type { Limits } from "./limits.ts";
import type { OpenLink } from "./link/process_link.ts";
import type { Log } from "./log.ts";
import type { Tracer } from "./tracing.ts";
import type { Note } from "./tree.ts";
import type { CommitStore, KindSpec, OpStatements, RunRead, Vocabulary } from "./vocabulary.ts";

/** What a runtime is made of. */
export interface RuntimeOptions {
  readonly store: CommitStore;
  readonly vocabulary: Vocabulary;
  readonly opStatements: OpStatements;
  readonly runRead: RunRead;
  readonly loads: Readonly<Record<string, Load>>;
  /** In start order: gateways and core actors start in it and stop in reverse. */
  readonly kinds: readonly KindSpec[];
  readonly clock: Clock;
  readonly newId: () => string;
  readonly random: () => number;
  readonly log: Log;
  readonly limits?: Partial<Limits>;
  /** Absolute path of `deno.json`, for child processes. */
  readonly denoConfig: string;
  /** Variables for child processes that Deno needs to find its cache: `DENO_DIR`, `HOME`. */
  readonly childEnv?: Readonly<Record<string, string>>;
  readonly openLink?: OpenLink;
  /** How long effects may still begin, in milliseconds by the monotonic clock. Default: for ever. */
  readonly leaseMs?: () => number;
  /** A message for the edge: ephemeral ones at once, durable ones when they are on disk. */
  readonly onEdge: (message: Envelope) => void;
  readonly onNote: (note: Note) => void;
  /** Makes spans of messages. Default: none are made. */
  readonly tracer?: Tracer | undefined;
  /** A message to `supervisor`; it is done when this resolves. */
  readonly onSupervisor: (message: Envelope) => Promise<void> | void;
}
