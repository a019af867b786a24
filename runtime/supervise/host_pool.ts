/**
 * Decides in which host process a pure actor's Worker lives. The core host is for singletons, in which no conversation ever runs; shared hosts
 * fill up; suspects live in quarantine hosts of their group. A shared host keeps one warm spare Worker, so that waking needs no spawn; when
 * nobody has lived in one for long, there is none. Proven by `runtime/runtime_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { Limits } from "../limits.ts";
import type { Log } from "../log.ts";
import type { OpenLink, ProcessSpec } from "../link/process_link.ts";
import { PureHost, type Seat, type SeatUser } from "./pure_host.ts";

/** Where an actor must live. `quarantine` names a group of suspects. */
export type Placement =
  | { readonly in: "core" | "shared" }
  | { readonly in: "quarantine"; readonly group: string };

/** What the pool needs. */
export interface PoolOptions {
  readonly openLink: OpenLink;
  /** The process of every pure host. */
  readonly spec: ProcessSpec;
  readonly limits: Limits;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly log: Log;
}

/** A new spare waits this long, so that it does not compete with the wake that took the last one. */
const SPARE_DELAY_MS = 25;
/** A shared host stays for so long after its last actor left: when many wake and sleep, it would be started again at once. */
const HOST_LINGER_MS = 5_000;

/** All pure hosts. */
export class HostPool {
  readonly #options: PoolOptions;
  readonly #hosts = new Map<PureHost, string>();
  readonly #timers = new Set<() => void>();
  #cancelRest: (() => void) | undefined;
  #count = 0;
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Gives the user a Worker of this bundle; it may still be starting. */
  seat(url: string, placement: Placement, user: SeatUser): Seat {
    const group = placement.in === "quarantine" ? placement.group : placement.in;
    const host = this.#hostFor(group, url);
    const seat = spareOf(host, url) ?? host.spawn(url);
    seat.user = user;
    if (placement.in === "shared") {
      this.#cancelRest?.();
      this.#soon(() => this.#addSpare(host, url), SPARE_DELAY_MS);
    }
    return seat;
  }

  /** Ends the Worker; a host that nobody needs any more ends too. */
  release(seat: Seat): void {
    seat.end();
    const { host } = seat;
    if (this.#hosts.get(host) !== "shared") return this.#closeIfUnused(host);
    if (!isUnused(host)) return;
    this.#soon(() => this.#closeIfUnused(host), HOST_LINGER_MS);
    this.#restLater();
  }

  /** Closes every host and kills what is left after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#cancelRest?.();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const hosts = [...this.#hosts.keys()];
    for (const host of hosts) host.close();
    const cancel = this.#options.clock.after(graceMs, () => {
      for (const host of hosts) host.forceEnd();
    });
    await Promise.all(hosts.map((host) => host.ended));
    cancel();
  }

  #hostFor(group: string, url?: string): PureHost {
    const open = [...this.#hosts].filter(([host, name]) => name === group && !host.closing).map(([host]) =>
      host
    );
    const spare = url === undefined ? undefined : open.find((host) => spareOf(host, url));
    if (spare) return spare;
    const free = open.filter((host) => host.workers < this.#options.limits.workersPerHost);
    const least = free.toSorted((a, b) => a.workers - b.workers)[0];
    return least ?? this.#open(group);
  }

  #open(group: string): PureHost {
    const { openLink, spec, limits, heartbeats, clock, log } = this.#options;
    const host = new PureHost({
      name: `${group.split(".")[0]}-${++this.#count}`,
      spec,
      openLink,
      limits,
      heartbeats,
      monotonic: () => clock.monotonic(),
      log,
      onExit: (ended) => this.#hosts.delete(ended),
    });
    this.#hosts.set(host, group);
    return host;
  }

  #addSpare(host: PureHost, url: string): void {
    if (this.#stopping || host.closing || spareOf(host, url)) return;
    if (host.workers < this.#options.limits.workersPerHost) host.spawn(url);
  }

  #closeIfUnused(host: PureHost): void {
    const group = this.#hosts.get(host);
    if (group === undefined || group === "core" || host.closing || !isUnused(host)) return;
    const others = [...this.#hosts].some(([other, name]) =>
      name === group && other !== host && !other.closing
    );
    if (group !== "shared" || others) host.close();
  }

  /** Closes the shared hosts, spares and all, when nobody has moved into one for long. */
  #restLater(): void {
    const { clock, limits } = this.#options;
    this.#cancelRest?.();
    this.#cancelRest = clock.after(limits.restMs, () => {
      const shared = [...this.#hosts].filter(([, group]) => group === "shared").map(([host]) => host);
      if (shared.every(isUnused)) { for (const host of shared) host.close(); }
    });
  }

  #soon(run: () => void, ms: number): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(cancel);
      try {
        run();
      } catch (error) {
        // Nobody waits for a spare; whoever needs a host tries again, and says so.
        this.#options.log("warn", "a spare host cannot be started", { error: String(error) });
      }
    });
    this.#timers.add(cancel);
  }
}

/** Whether no actor lives in it; a spare is nobody. */
function isUnused(host: PureHost): boolean {
  return ![...host.seats.values()].some((seat) => seat.user);
}

function spareOf(host: PureHost, url: string): Seat | undefined {
  for (const seat of host.seats.values()) if (!seat.user && seat.url === url) return seat;
  return undefined;
}
