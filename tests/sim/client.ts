/**
 * Everybody outside: inserts rows as the edge does, asks again with the same `dedupe` text, moves alarms, sends what nobody knows, restarts
 * parked actors. Keeps a list of what was accepted, which is what must not be lost.
 */
import { insertMessage, type NewMessage } from "../../store/mail.ts";
import { laneOf } from "./actors.ts";
import type { MemoryDatabase } from "./database.ts";
import type { Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import type { Schedule } from "./schedule.ts";

/** Who is addressed. */
const CONVERSATIONS = 8;
/** More open rows than this, and nobody asks for more. */
const ENOUGH = 120;

/** What a client needs. */
export interface ClientOptions {
  readonly database: MemoryDatabase;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly newId: () => string;
  readonly machines: () => readonly Machine[];
}

/** The outside. */
export class Client {
  /** Ids of accepted rows; those with a `dedupe` text are kept by that. */
  readonly accepted = new Set<string>();
  readonly dedupes = new Set<string>();
  readonly #options: ClientOptions;
  #open = true;
  #count = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#next();
  }

  /** Asks for nothing more. */
  close(): void {
    this.#open = false;
  }

  #next(): void {
    const { schedule, random } = this.#options;
    schedule.after(random.between(1, 25), () => {
      if (!this.#open) return;
      this.#act();
      this.#next();
    });
  }

  #act(): void {
    const { database, random } = this.#options;
    const waiting = "SELECT count(*) FROM messages WHERE state IN ('queued', 'started')";
    if (database.number(waiting) < ENOUGH) {
      for (let count = random.between(1, 4); count > 0; count--) this.#insert();
    }
    if (random.chance(0.05)) this.#restartParked();
    if (random.chance(0.05)) this.#sendFromSupervisor();
    if (random.chance(0.6)) { for (const machine of this.#options.machines()) this.#ring(machine); }
  }

  #ring(machine: Machine): void {
    machine.clock.enter(() => machine.runtime?.poke());
  }

  #insert(): void {
    const { random } = this.#options;
    const to = this.#actor();
    const call = `call ${++this.#count}`;
    const work = { callId: call, route: this.#route() };
    switch (random.weighted({ work: 60, act: 10, stop: 8, alarm: 10, twice: 5, poison: 2, unknown: 2 })) {
      case "work":
        return this.#put({ to, type: "sim.work", payload: work });
      case "act":
        return this.#put({ to: "world", type: "sim.act", payload: work });
      case "stop":
        return this.#put({ to: random.chance(0.2) ? "world" : to, type: "sim.stop", payload: work });
      case "alarm":
        return this.#alarm(call);
      case "twice":
        this.dedupes.add(call);
        this.#put({ to, type: "sim.work", payload: work, dedupe: call });
        return this.#put({ to, type: "sim.work", payload: work, dedupe: call });
      case "poison": {
        const type = random.chance(0.3) ? "sim.act" : "sim.work";
        const payload = { callId: call, route: [], poison: true };
        return this.#put({ to: type === "sim.act" ? "world" : to, type, payload });
      }
      case "unknown":
        return this.#put({
          to: random.chance(0.5) ? "conversation/none" : to,
          type: "sim.odd",
          payload: work,
        });
    }
  }

  #alarm(call: string): void {
    const { random, schedule } = this.#options;
    const toWorld = random.chance(0.4);
    const to = toWorld ? "world" : `conversation/${random.between(0, 1)}`;
    const notBefore = random.chance(0.6) ? schedule.now + random.between(0, 300) : undefined;
    const payload = { callId: call, route: [] };
    this.#put({
      to,
      type: toWorld ? "sim.act" : "sim.alarm",
      payload,
      replaces: `alarm ${to}`,
      ...(notBefore === undefined || toWorld ? {} : { notBefore }),
    });
  }

  #put(message: Omit<NewMessage, "id" | "from" | "lane" | "at">): void {
    const { database, newId, schedule } = this.#options;
    const id = newId();
    const row = { ...message, id, from: "edge", lane: laneOf(message.type), at: schedule.now };
    database.batch("edge", insertMessage(row));
    if (message.dedupe === undefined) this.accepted.add(id);
  }

  #actor(): string {
    const { random } = this.#options;
    return random.chance(0.1) ? "core" : `conversation/${random.between(0, CONVERSATIONS - 1)}`;
  }

  #route(): string[] {
    const { random } = this.#options;
    const hops = Array.from({ length: random.between(0, 2) }, () => this.#actor());
    const ends = random.weighted({ world: 5, edge: 2, nowhere: 3 });
    return ends === "nowhere" ? hops : [...hops, ends];
  }

  #restartParked(): void {
    for (const { clock, runtime } of this.#options.machines()) {
      clock.enter(() => {
        for (const { ref, state } of runtime?.actors() ?? []) if (state === "parked") runtime?.restart(ref);
      });
    }
  }

  #sendFromSupervisor(): void {
    const to = this.#actor();
    const payload = { callId: `call ${++this.#count}`, route: [] };
    for (const { clock, runtime } of this.#options.machines()) {
      clock.enter(() => {
        void runtime?.send({ to, type: "sim.work", payload }).then((sent) => {
          if (sent.ok) this.accepted.add(sent.value);
        });
      });
    }
  }
}
