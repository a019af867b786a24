/**
 * The supervisor's half of one pure host: its process, and the seats in it, one for each Worker. Promises that every seat's user hears of its
 * end exactly once, with a verdict, and that no Worker outlives its seat: one that does not close when told costs the host. Which actor sits
 * where is the pool's business. Proven by `runtime/link/host_test.ts` and `runtime/faults_worker_test.ts`.
 */
import type { Heartbeats, Watched } from "./heartbeats.ts";
import { type DownReason, type HostDeath, judgeDeath, readEnd, type Verdict } from "./judge_death.ts";
import type { Limits } from "../limits.ts";
import {
  type FromHost,
  type FromWorker,
  readTrusted,
  readWorker,
  type ToHost,
} from "../link/link_messages.ts";
import type { Log } from "../log.ts";
import type { OpenLink, ProcessLink, ProcessSpec } from "../link/process_link.ts";

/** Words of one Worker that answer nothing, between two beats of its host: more than any actor could mean. Nothing else holds a flood back. */
const FLOOD = 2_000;

/** How a seat's Worker ended. `quarantine` names the group in which its actor must live next. */
export interface SeatEnd {
  readonly reason: DownReason;
  readonly detail: string;
  readonly suspect: boolean;
  readonly quarantine?: string | undefined;
}

/** Who uses a seat. */
export interface SeatUser {
  readonly ref: string;
  onMessage(message: FromWorker): void;
  onEnd(end: SeatEnd): void;
  /** Whether it has a message in hand. */
  isBusy(): boolean;
}

/** What a host needs. */
export interface HostOptions {
  readonly name: string;
  readonly spec: ProcessSpec;
  readonly openLink: OpenLink;
  readonly limits: Limits;
  readonly heartbeats: Heartbeats;
  readonly monotonic: () => number;
  readonly log: Log;
  readonly onExit: (host: PureHost) => void;
}

/** One Worker in a host; a spare one has no user yet. */
export class Seat implements Watched {
  lastBeat = 0;
  ready = false;
  /** Heap of its isolate, bytes, as it says itself. */
  heapBytes: number | undefined;
  /** Words that answer no message, since the host's last beat. */
  idleWords = 0;
  user: SeatUser | undefined;
  /** Its Worker was told to close. */
  ending = false;

  constructor(readonly host: PureHost, readonly slot: number, readonly url: string) {}

  get inside(): Watched {
    return this.host;
  }

  limitMs(): number {
    return this.ready ? this.host.limits.hangMs : this.host.limits.startMs;
  }

  hung(silentMs: number): void {
    const detail = this.ending
      ? `a worker did not close within ${silentMs} ms`
      : `${this.user?.ref ?? "a spare worker"} did not beat for ${silentMs} ms`;
    this.host.kill({ reason: "hang", detail, suspect: this.slot });
  }

  send(text: string): void {
    this.host.send(this.slot, text);
  }

  /** Ends the Worker without telling its user. */
  end(): void {
    this.host.release(this);
  }
}

/** A running host process. */
export class PureHost implements Watched {
  readonly name: string;
  readonly limits: Limits;
  readonly seats = new Map<number, Seat>();
  /** Seats without a user whose Workers have not closed yet. */
  readonly #ending = new Map<number, Seat>();
  lastBeat = 0;
  /** Set once it must get no more Workers. */
  closing = false;
  readonly #options: HostOptions;
  readonly #link: ProcessLink;
  #nextSlot = 1;
  #death: HostDeath | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.name = options.name;
    this.limits = options.limits;
    this.#link = options.openLink(options.spec, {
      onEntry: ({ slot, text }) =>
        slot === 0 ? this.#onHost(readTrusted<FromHost>(text)) : this.#onWorker(slot, text),
      onNoise: (line) => options.log("warn", "a host wrote outside its link", { host: this.name, line }),
      onExit: (end) => this.#onExit(this.#death ?? readEnd(end)),
    });
    options.heartbeats.add(this);
  }

  get pid(): number {
    return this.#link.pid;
  }

  /** Workers that run in it. */
  get workers(): number {
    return this.seats.size + this.#ending.size;
  }

  get ended(): Promise<void> {
    return this.#link.ended;
  }

  limitMs(): number {
    return this.limits.hangMs;
  }

  hung(silentMs: number): void {
    this.kill({ reason: "hang", detail: `host ${this.name} did not beat for ${silentMs} ms` });
  }

  /** Starts a Worker of this bundle. */
  spawn(url: string): Seat {
    const seat = new Seat(this, this.#nextSlot++, url);
    this.seats.set(seat.slot, seat);
    this.#options.heartbeats.add(seat);
    this.#say({ t: "spawn", slot: seat.slot, url });
    return seat;
  }

  send(slot: number, text: string): void {
    this.#link.send(slot, text);
  }

  release(seat: Seat): void {
    if (!this.seats.delete(seat.slot)) return;
    seat.user = undefined;
    seat.ending = true;
    this.#ending.set(seat.slot, seat);
    // It has as much time as for a beat, from now.
    this.#options.heartbeats.add(seat);
    this.#say({ t: "end", slot: seat.slot });
  }

  /** Kills the process; its seats' users hear of it when it is gone. */
  kill(death: HostDeath): void {
    this.#death ??= death;
    this.closing = true;
    this.#link.kill();
  }

  /** Ends an empty or stopping host in peace. */
  close(): void {
    this.closing = true;
    this.#death ??= { reason: "shutdown", detail: "the supervisor stopped it" };
    this.#link.close();
  }

  /** Kills a closing host that took too long. */
  forceEnd(): void {
    this.#link.kill();
  }

  #onHost(message: FromHost): void {
    this.lastBeat = this.#options.monotonic();
    switch (message.t) {
      case "up":
        return;
      case "beat":
        for (const seat of this.seats.values()) seat.idleWords = 0;
        return this.#checkMemory(message.rss);
      case "rss":
        return this.#checkMemory(message.rss);
      case "error":
        this.#gone(message.slot);
        return this.#endSeat(message.slot, { reason: "error", detail: message.detail, suspect: true });
      case "ended":
        return this.#gone(message.slot);
      default:
        return message satisfies never;
    }
  }

  #onWorker(slot: number, text: string): void {
    const seat = this.seats.get(slot);
    if (!seat || seat.idleWords > FLOOD) return;
    const message = readWorker(text);
    if (!message) {
      return this.#closeSeat(seat, {
        reason: "error",
        detail: "it said something unreadable",
        suspect: true,
      });
    }
    // An answer is held against what was asked; there are never more of them than messages in its hands.
    const answers = message.t === "commit" || message.t === "commits" && message.commits.length > 0;
    if (!answers && ++seat.idleWords > FLOOD) {
      const detail = `${seat.user?.ref ?? "a spare worker"} floods its host`;
      return this.kill({ reason: "hang", detail, suspect: slot });
    }
    // Words prove nothing: a loop that never turns can log for ever.
    if (message.t !== "log") seat.lastBeat = this.#options.monotonic();
    if (message.t === "ready") seat.ready = true;
    if (message.t === "heap") seat.heapBytes = message.bytes;
    if (message.t === "bye") {
      return this.#closeSeat(seat, { reason: "exit", detail: "it closed itself", suspect: true });
    }
    seat.user?.onMessage(message);
  }

  #checkMemory(rss: number): void {
    if (rss <= this.limits.hostMemoryMb * 2 ** 20) return;
    this.kill({ reason: "oom", detail: `host ${this.name} used ${Math.round(rss / 2 ** 20)} MiB` });
  }

  /** A Worker that was told to close has done so. */
  #gone(slot: number): void {
    const seat = this.#ending.get(slot);
    if (!seat) return;
    this.#ending.delete(slot);
    this.#options.heartbeats.remove(seat);
  }

  /** Ends a seat whose Worker still runs. */
  #closeSeat(seat: Seat, end: SeatEnd): void {
    const { user } = seat;
    this.release(seat);
    this.#tell(user, end);
  }

  #endSeat(slot: number, end: SeatEnd): void {
    const seat = this.seats.get(slot);
    if (!seat) return;
    this.seats.delete(slot);
    this.#options.heartbeats.remove(seat);
    this.#tell(seat.user, end);
  }

  #tell(user: SeatUser | undefined, end: SeatEnd): void {
    if (user) return user.onEnd(end);
    this.#options.log("error", "a spare worker ended", { host: this.name, detail: end.detail });
  }

  #onExit(death: HostDeath): void {
    this.closing = true;
    this.#options.heartbeats.remove(this);
    for (const slot of [...this.#ending.keys()]) this.#gone(slot);
    const seats = [...this.seats.values()];
    const occupants = seats.flatMap(({ slot, user }) => user ? [{ slot, busy: user.isBusy() }] : []);
    const verdicts = new Map(judgeDeath(death, occupants).map((verdict) => [verdict.slot, verdict]));
    for (const seat of seats) {
      const verdict = verdicts.get(seat.slot);
      this.#options.heartbeats.remove(seat);
      this.seats.delete(seat.slot);
      if (verdict) seat.user?.onEnd(this.#seatEnd(verdict));
    }
    this.#options.onExit(this);
  }

  #seatEnd({ reason, detail, suspect, group }: Verdict): SeatEnd {
    const quarantine = group === undefined ? undefined : `${this.name}.${group}`;
    return { reason, detail, suspect, quarantine };
  }

  #say(message: ToHost): void {
    this.#link.send(0, JSON.stringify(message));
  }
}
