/**
 * The witness of one supervisor's links: what it says to its processes, and what it hears of them. Holds it to one life an actor, order of
 * delivery, control before normal, windows, rows before delivery, and one `down` for each incarnation.
 */
import type { Limits } from "../../runtime/limits.ts";
import type { SimProcess } from "./process.ts";
import type { Witness } from "./witness.ts";

interface Seat {
  readonly ref: string;
  readonly incarnation: number;
  readonly inHand: Set<string>;
  lastControl: number;
  /** Of each key for a gateway; of all for a pure actor. */
  readonly lastNormal: Map<string, number>;
}

interface Envelope {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly durable: boolean;
}

/** What a supervisor says; only what is looked at. */
interface Said {
  readonly t: string;
  readonly ref?: string;
  readonly incarnation?: number;
  readonly slot?: number;
  readonly id?: string;
  readonly commits?: readonly { readonly id: string }[];
  readonly messages?: readonly (Envelope | { readonly message: Envelope })[];
}

const MAX_EPHEMERAL = 256;

/** Looks at the links of one supervisor. */
export class LinkWitness {
  readonly #witness: Witness;
  readonly #limits: Limits;
  readonly #name: string;
  readonly #seats = new Map<SimProcess, Map<number, Seat>>();
  readonly #lives = new Map<string, Seat>();
  readonly #started = new Set<string>();
  readonly #downs = new Set<string>();

  constructor(name: string, witness: Witness, limits: Limits) {
    this.#name = name;
    this.#witness = witness;
    this.#limits = limits;
  }

  sent(process: SimProcess, slot: number, text: string): void {
    const said = JSON.parse(text) as Said; // the supervisor's own text
    if (slot === 0) {
      if (said.t === "end" && said.slot !== undefined) this.#over(process, said.slot);
      return;
    }
    if (said.t === "start" && said.ref !== undefined) this.#start(process, slot, said.ref, said.incarnation);
    if (said.t !== "deliver" && said.t !== "start") return;
    const seat = this.#seats.get(process)?.get(slot);
    if (!seat) return;
    for (const item of said.messages ?? []) {
      this.#delivered(process, seat, "message" in item ? item.message : item);
    }
  }

  heard(process: SimProcess, slot: number, text: string): void {
    const said = JSON.parse(text) as Said; // a program of the simulation wrote it
    if (slot === 0 && said.t === "error" && said.slot !== undefined) this.#over(process, said.slot);
    if (slot === 0) return;
    if (said.t === "bye") this.#over(process, slot);
    const inHand = this.#seats.get(process)?.get(slot)?.inHand;
    if ((said.t === "commit" || said.t === "done") && said.id !== undefined) inHand?.delete(said.id);
    if (said.t === "commits") { for (const { id } of said.commits ?? []) inHand?.delete(id); }
  }

  killed(process: SimProcess): void {
    for (const slot of [...this.#seats.get(process)?.keys() ?? []]) this.#over(process, slot);
  }

  ended(process: SimProcess): void {
    this.killed(process);
    this.#seats.delete(process);
  }

  /** The supervisor says that an incarnation is down. */
  down(ref: string, incarnation: number): void {
    const life = `${ref} ${incarnation}`;
    if (this.#downs.has(life)) this.#broken("an incarnation is down once", life);
    this.#downs.add(life);
  }

  /** After an orderly stop: every life that began is over, and was told. */
  stopped(): void {
    for (const life of this.#started) {
      if (!this.#downs.has(life)) this.#broken("every incarnation's end is told", life);
    }
    for (const process of this.#seats.keys()) {
      if (process.runs) this.#broken("no process outlives its supervisor", `pid ${process.pid}`);
    }
  }

  #start(process: SimProcess, slot: number, ref: string, incarnation = this.#started.size): void {
    const other = this.#lives.get(ref);
    const life = process.isGateway ? "" : `${ref} ${incarnation}`;
    if (other) {
      this.#broken("one incarnation of an actor lives", `${ref} ${incarnation} beside ${other.incarnation}`);
    }
    if (life !== "" && this.#started.has(life)) this.#broken("an incarnation's number is used once", life);
    if (life !== "") this.#started.add(life);
    const seat = { ref, incarnation, inHand: new Set<string>(), lastControl: 0, lastNormal: new Map() };
    const seats = this.#seats.get(process) ?? new Map<number, Seat>();
    seats.set(slot, seat);
    this.#seats.set(process, seats);
    this.#lives.set(ref, seat);
  }

  #over(process: SimProcess, slot: number): void {
    const seat = this.#seats.get(process)?.get(slot);
    if (!seat) return;
    this.#seats.get(process)?.delete(slot);
    if (this.#lives.get(seat.ref) === seat) this.#lives.delete(seat.ref);
  }

  #delivered(process: SimProcess, seat: Seat, { id, to, from, durable }: Envelope): void {
    if (to !== seat.ref) {
      this.#broken("mail reaches its receiver only", `${id} for ${to} went to ${seat.ref}`);
    }
    if (seat.inHand.has(id)) this.#broken("a message is in one hand once", `${id} for ${to}`);
    seat.inHand.add(id);
    const window = process.isGateway ? this.#limits.gatewayWindow : this.#limits.window + MAX_EPHEMERAL;
    if (seat.inHand.size > window) this.#forgetClosed(seat);
    if (seat.inHand.size > window) this.#broken("hands are bounded", `${to} holds ${seat.inHand.size}`);
    if (!durable) return;
    const text = "SELECT seq, lane, not_before, failures FROM messages WHERE id = ?";
    const row = this.#witness.database.query({ sql: text, args: [id] }).rows[0];
    if (!row) return this.#broken("nothing is delivered before it is a row", `${id} for ${to}`);
    if (row[2] !== null) return; // what had to wait comes when it is due
    const seq = Number(row[0]);
    const key = process.isGateway ? from : "";
    const last = seat.lastNormal.get(key) ?? 0;
    if (row[1] === 0) {
      if (!process.isGateway && seq < last) {
        this.#broken("control overtakes normal", `${id} (${seq}) went to ${to} after ${last}`);
      }
      return;
    }
    if (seq <= last) {
      this.#broken("delivery keeps the order of rows", `${id} (${seq}) went to ${to} after ${last}`);
    }
    seat.lastNormal.set(key, seq);
  }

  /** An earlier life's commit may close what the next one has in hand; that takes no place any more. */
  #forgetClosed(seat: Seat): void {
    const text = "SELECT count(*) FROM messages WHERE id = ? AND state IN ('done', 'dead')";
    for (const id of seat.inHand) if (this.#witness.database.number(text, id) > 0) seat.inHand.delete(id);
  }

  #broken(promise: string, detail: string): void {
    this.#witness.broken(promise, `${this.#name}: ${detail}`);
  }
}
