/**
 * The supervisor's own mailbox: messages to `supervisor`, carried out one after the other. A message that throws goes to the dead letters, so
 * its sender is answered; one that was cut off by a stop is carried out again. Proven by `runtime/supervisor_test.ts`.
 */
import type { Envelope } from "./actor.ts";
import { toEnvelope } from "./envelope.ts";
import { settling } from "./mail/built.ts";
import { deadLetter } from "./mail/dead_letter.ts";
import type { Kernel } from "./supervise/kernel.ts";

/** The ref by which actors and the edge reach it. */
export const SUPERVISOR = "supervisor";

/** Carries out what is sent to the supervisor. */
export class OwnMail {
  readonly #kernel: Kernel;
  readonly #carryOut: (message: Envelope) => Promise<void> | void;
  #busy = false;
  #stopped = false;

  /** The message is done when `carryOut` resolves. */
  constructor(kernel: Kernel, carryOut: (message: Envelope) => Promise<void> | void) {
    this.#kernel = kernel;
    this.#carryOut = carryOut;
  }

  /** Begins with what waits; idempotent. */
  async pump(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const { room, clock, commits } = this.#kernel;
    const box = room.box(SUPERVISOR);
    for (let mail; !this.#stopped && (mail = box.take(clock.now(), 1)[0]);) {
      try {
        await this.#carryOut(toEnvelope({ ...mail, payload: JSON.parse(mail.payload) }, true));
        box.remove(mail.id);
        await commits.run(mail.id, settling(mail.id));
      } catch (error) {
        deadLetter(this.#kernel, mail, { code: "bad_request", message: String(error) });
      }
    }
    this.#busy = false;
  }

  /** Begins nothing more. */
  stop(): void {
    this.#stopped = true;
  }
}
