/**
 * One actor's open messages in memory: two lanes, messages that are not due yet, and those in the actor's hands. Only an index over rows: it
 * can always be built again. Promises order of `seq` within a lane, control before normal, and that nothing is in two places. Pure.
 * Proven by `mailbox_test.ts`.
 */
import type { Tracing } from "../tracing.ts";
import type { CurrentMessage } from "../tree.ts";
import type { Mail } from "./mail.ts";

/** Messages that must wait although they are due, and why. */
export interface Hold {
  /** When it began, milliseconds since the epoch. */
  readonly since: number;
  readonly reason: string;
  matches(message: { readonly to: string; readonly type: string }): boolean;
}

/** Hears what happens to messages in hand. */
export type HandsWatcher = Pick<Tracing, "handed" | "returned" | "done">;

/** Numbers for the actors view. */
export interface MailboxDepth {
  readonly control: number;
  readonly normal: number;
  /** Age of the oldest due message, in milliseconds. */
  readonly oldestMs: number;
}

/** The mailbox of one actor. */
export class Mailbox {
  readonly #control: Mail[] = [];
  readonly #normal: Mail[] = [];
  #later: Mail[] = [];
  readonly #hands = new Map<string, Mail>();
  readonly #ids = new Set<string>();
  readonly #perKey = new Map<string, number>();
  readonly #watcher: HandsWatcher | undefined;
  #hold: Hold | undefined;

  constructor(
    options: { readonly watcher?: HandsWatcher | undefined; readonly hold?: Hold | undefined } = {},
  ) {
    this.#watcher = options.watcher;
    this.#hold = options.hold;
  }

  /** Adds a message; false when it is already there. */
  add(mail: Mail): boolean {
    if (this.#ids.has(mail.id)) return false;
    this.#ids.add(mail.id);
    if (mail.lane === "normal") this.#count(mail.key, 1);
    this.#place(mail);
    return true;
  }

  /** Removes up to `max` due messages that `accept` takes, into the actor's hands. */
  take(now: number, max: number, accept: (mail: Mail) => boolean = () => true): Mail[] {
    this.#becomeDue(now);
    const taken: Mail[] = [];
    for (const lane of [this.#control, this.#normal]) {
      for (let index = 0; index < lane.length && taken.length < max;) {
        const mail = lane[index];
        if (!mail || !accept(mail)) {
          index++;
          continue;
        }
        lane.splice(index, 1);
        this.#hands.set(mail.id, mail);
        mail.handedAt = now;
        this.#watcher?.handed(mail);
        taken.push(mail);
      }
    }
    return taken;
  }

  /** Puts a message from the actor's hands back into its place. */
  giveBack(id: string): void {
    const mail = this.#hands.get(id);
    if (!mail) return;
    this.#hands.delete(id);
    this.#watcher?.returned(id);
    if (this.#hold?.matches(mail)) this.#later.push(mail);
    else insert(this.#lane(mail), mail);
  }

  /** From now on keeps what matches from becoming due, or nothing any more. Gives what it holds back now. */
  hold(hold: Hold | undefined): Mail[] {
    this.#hold = hold;
    if (!hold) return [];
    for (const lane of [this.#control, this.#normal]) {
      const held = lane.filter((mail) => hold.matches(mail));
      for (const mail of held) lane.splice(lane.indexOf(mail), 1);
      this.#later.push(...held);
    }
    return this.#later.filter((mail) => hold.matches(mail));
  }

  /** Forgets a message that is done or dead. */
  remove(id: string): void {
    if (!this.#ids.delete(id)) return;
    const mail = this.#hands.get(id) ?? this.#takeOut(id);
    if (this.#hands.delete(id)) this.#watcher?.done(id);
    if (mail?.lane === "normal") this.#count(mail.key, -1);
  }

  /** The messages that a newer one with the same `replaces` has withdrawn: not started, in a queue or in hand. */
  replacedBy(text: string, seq: number): Mail[] {
    return [...this.#all()].filter((mail) => mail.replaces === text && mail.seq < seq && !mail.started);
  }

  /** Whether something could be taken now. */
  hasDue(now: number): boolean {
    this.#becomeDue(now);
    return this.#control.length + this.#normal.length > 0;
  }

  /** When the next message becomes due that is not due now, in milliseconds since the epoch. */
  nextDue(now: number): number | undefined {
    this.#becomeDue(now);
    return this.#later.reduce<number | undefined>((least, mail) => {
      if (mail.notBefore === null || this.#hold?.matches(mail)) return least;
      return Math.min(least ?? Infinity, mail.notBefore);
    }, undefined);
  }

  /** Queued normal messages, in all or of one key. */
  queued(key?: string): number {
    if (key !== undefined) return this.#perKey.get(key) ?? 0;
    return this.#normal.length + this.#later.length + this.#hands.size;
  }

  get inHand(): readonly Mail[] {
    return [...this.#hands.values()];
  }

  get(id: string): Mail | undefined {
    return this.#hands.get(id);
  }

  /** The message that has been in hand longest. */
  current(now: number): CurrentMessage | undefined {
    for (const { id, type, handedAt } of this.#hands.values()) {
      return { id, type, ms: now - (handedAt ?? now) };
    }
    return undefined;
  }

  depth(now: number): MailboxDepth {
    this.#becomeDue(now);
    const hands = this.inHand;
    const due = [...this.#control, ...this.#normal, ...hands];
    const oldest = due.reduce((least, mail) => Math.min(least, Math.max(mail.at, mail.notBefore ?? 0)), now);
    return {
      control: this.#control.length + hands.filter((mail) => mail.lane === "control").length,
      normal: this.#normal.length + hands.filter((mail) => mail.lane === "normal").length,
      oldestMs: now - oldest,
    };
  }

  #lane(mail: Mail): Mail[] {
    return mail.lane === "control" ? this.#control : this.#normal;
  }

  #place(mail: Mail): void {
    if (mail.notBefore !== null || this.#hold?.matches(mail)) this.#later.push(mail);
    else insert(this.#lane(mail), mail);
  }

  #becomeDue(now: number): void {
    if (this.#later.length === 0) return;
    const isDue = (mail: Mail) => (mail.notBefore ?? 0) <= now && !this.#hold?.matches(mail);
    const due = this.#later.filter(isDue);
    if (due.length === 0) return;
    this.#later = this.#later.filter((mail) => !isDue(mail));
    for (const mail of due) insert(this.#lane(mail), mail);
  }

  #takeOut(id: string): Mail | undefined {
    for (const list of [this.#control, this.#normal, this.#later]) {
      const index = list.findIndex((mail) => mail.id === id);
      if (index >= 0) return list.splice(index, 1)[0];
    }
    return undefined;
  }

  #count(key: string, change: number): void {
    const count = (this.#perKey.get(key) ?? 0) + change;
    if (count > 0) this.#perKey.set(key, count);
    else this.#perKey.delete(key);
  }

  *#all(): Generator<Mail> {
    yield* this.#control;
    yield* this.#normal;
    yield* this.#later;
    yield* this.#hands.values();
  }
}

/** Keeps a lane in order of `seq`; nearly always an append. */
function insert(lane: Mail[], mail: Mail): void {
  let at = lane.length;
  while (at > 0 && (lane[at - 1]?.seq ?? 0) > mail.seq) at--;
  lane.splice(at, 0, mail);
}
