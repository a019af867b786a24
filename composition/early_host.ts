/**
 * A host process that is started before there is a database to start the runtime with: it loads while that is opened, and the runtime's first
 * request for such a process gets it. Promises that the runtime hears everything in its order, as if it had started it itself. A host without
 * Workers does nothing, so it does no harm to have one before the lease. Proven by `early_host_test.ts`.
 */
import type { LinkEvents, OpenLink, ProcessLink, ProcessSpec } from "../runtime/link/process_link.ts";

type Tell = (events: LinkEvents) => void;

/** One process that waits for its owner. */
export class EarlyHost {
  readonly #open: OpenLink;
  readonly #spec: ProcessSpec;
  #link: ProcessLink | undefined;
  #owner: LinkEvents | undefined;
  #untold: Tell[] = [];

  /** Starts it. When that fails, so does nothing else: the runtime will try, and say so. */
  constructor(open: OpenLink, spec: ProcessSpec) {
    this.#open = open;
    this.#spec = spec;
    try {
      this.#link = open(spec, {
        onEntry: (entry) => this.#tell((owner) => owner.onEntry(entry)),
        onNoise: (line) => this.#tell((owner) => owner.onNoise(line)),
        onExit: (end) => {
          // Nobody took it: the runtime starts another one.
          if (!this.#owner) this.#link = undefined;
          this.#tell((owner) => owner.onExit(end));
        },
      });
    } catch {
      this.#link = undefined;
    }
  }

  /** How the runtime starts processes: the first one of this kind is there already. */
  readonly openLink: OpenLink = (spec, events) => {
    const link = this.#link;
    if (!link || JSON.stringify(spec) !== JSON.stringify(this.#spec)) return this.#open(spec, events);
    this.#link = undefined;
    // Only when its owner has it in hand.
    queueMicrotask(() => {
      this.#owner = events;
      for (const tell of this.#untold.splice(0)) tell(events);
    });
    return link;
  };

  /** Waits for the start of the runtime, which takes the process or never will: then it ends, however the start went. */
  async during<T>(start: Promise<T>): Promise<T> {
    try {
      return await start;
    } finally {
      this.close();
    }
  }

  /** Ends it if nobody took it. */
  close(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  #tell(tell: Tell): void {
    if (this.#owner) tell(this.#owner);
    else this.#untold.push(tell);
  }
}
