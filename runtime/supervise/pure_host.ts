/**
 * The supervisor's half of one pure host: its process, and the seats in it, one for each Worker. Promises that every seat's user hears of its
 * end exactly once, with a verdict. Which actor sits where is the pool's business. Proven by `runtime/link/host_test.ts`.
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

/** More messages of one Worker between two beats of its host than any actor could mean: nothing else holds a flood back. */
const FLOOD = 50_000;

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
  /** Messages since the host's last beat. */
  messages = 0;
  user: SeatUser | undefined;

  constructor(readonly host: PureHost, readonly slot: number, readonly url: string) {}

  get inside(): Watched {
    return this.host;
  }

  limitMs(): number {
    return this.ready ? this.host.limits.hangMs : this.host.limits.startMs;
  }

  hung(silentMs: number): void {
    const detail = `${this.user?.ref ?? "a spare worker"} did not beat for ${silentMs} ms`;
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
    this.#options.heartbeats.remove(seat);
    seat.user = undefined;
    this.#say({ t: "end", slot: seat.slot });
  }

  /** Kills the process; its seats' users hear of it when it is gone. */
  kill(death: HostDeath): void {
    if (this.#death) return;
    this.#death = death;
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
        for (const seat of this.seats.values()) seat.messages = 0;
        if (message.rss > this.limits.hostMemoryMb * 2 ** 20) {
          this.kill({ reason: "oom", detail: `host ${this.name} used ${message.rss >> 20} MiB` });
        }
        return;
      case "error":
        return this.#endSeat(message.slot, { reason: "error", detail: message.detail, suspect: true });
      default:
        return message satisfies never;
    }
  }

  #onWorker(slot: number, text: string): void {
    const seat = this.seats.get(slot);
    if (!seat) return;
    seat.lastBeat = this.#options.monotonic();
    if (++seat.messages > FLOOD) {
      const detail = `${seat.user?.ref ?? "a spare worker"} floods its host`;
      return this.kill({ reason: "hang", detail, suspect: slot });
    }
    const message = readWorker(text);
    if (!message) {
      this.#say({ t: "end", slot });
      return this.#endSeat(slot, { reason: "error", detail: "it said something unreadable", suspect: true });
    }
    if (message.t === "ready") seat.ready = true;
    if (message.t === "heap") seat.heapBytes = message.bytes;
    if (message.t === "bye") {
      return this.#endSeat(slot, { reason: "exit", detail: "it closed itself", suspect: true });
    }
    seat.user?.onMessage(message);
  }

  #endSeat(slot: number, end: SeatEnd): void {
    const seat = this.seats.get(slot);
    if (!seat) return;
    this.seats.delete(slot);
    this.#options.heartbeats.remove(seat);
    if (!seat.user) {
      this.#options.log("error", "a spare worker ended", { host: this.name, detail: end.detail });
    }
    seat.user?.onEnd(end);
  }

  #onExit(death: HostDeath): void {
    this.closing = true;
    this.#options.heartbeats.remove(this);
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
