/**
 * What a gateway may be handed next, and whom its crash is counted against. Promises order within a key, at most `keyWindow` messages of one
 * key at once, and after a crash with no name one suspect at a time, so that the next crash has one. Knows no process. Proven by
 * `runtime/gateway_test.ts`.
 */
import type { Limits } from "../limits.ts";
import type { Mail } from "../mail/mail.ts";
import type { Mailbox } from "../mail/mailbox.ts";

/** The hands of one gateway, over all its incarnations. */
export class GatewayHands {
  readonly #limits: Pick<Limits, "gatewayWindow" | "keyWindow">;
  /** After a crash that no message can be blamed for: what was in hand goes one by one. */
  readonly #suspects = new Set<string>();

  constructor(limits: Pick<Limits, "gatewayWindow" | "keyWindow">) {
    this.#limits = limits;
  }

  /** Moves from the mailbox into the gateway's hands what may be there at once. */
  take(box: Mailbox, now: number): Mail[] {
    const { gatewayWindow, keyWindow } = this.#limits;
    const perKey = new Map<string, number>();
    for (const { key } of box.inHand) perKey.set(key, (perKey.get(key) ?? 0) + 1);
    let suspectInHand = box.inHand.some((mail) => this.#suspects.has(mail.id));
    // What waits behind a suspect of its key must not overtake it.
    const blocked = new Set<string>();
    return box.take(now, gatewayWindow - box.inHand.length, (mail) => {
      const isNormal = mail.lane === "normal";
      if (isNormal && blocked.has(mail.key)) return false;
      if (this.#suspects.has(mail.id)) {
        if (suspectInHand) {
          if (isNormal) blocked.add(mail.key);
          return false;
        }
        suspectInHand = true;
      }
      if (!isNormal) return true;
      const count = perKey.get(mail.key) ?? 0;
      if (count >= keyWindow) return false;
      perKey.set(mail.key, count + 1);
      return true;
    });
  }

  /** The message that a crash is counted against; without one, all that were in hand are handed over one by one next time. */
  blame(hands: readonly Mail[], guilty: string | undefined): Mail | undefined {
    const named = hands.find((mail) => mail.id === guilty);
    const only = hands.length === 1 ? hands[0] : undefined;
    const suspects = hands.filter((mail) => this.#suspects.has(mail.id));
    const found = named ?? only ?? (suspects.length === 1 ? suspects[0] : undefined);
    if (!found) { for (const mail of hands) this.#suspects.add(mail.id); }
    return found;
  }

  /** This message is done or dead. */
  acquit(id: string): void {
    this.#suspects.delete(id);
  }
}
