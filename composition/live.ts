/**
 * Fans pieces of answers out to the edge's streams in this process. Ephemeral: who does not listen misses them.
 */
import type { LiveDelta as DeltaPayload } from "../actors/protocol/live.ts";
import type { LiveDelta } from "../edge/deps.ts";
import type { Envelope } from "../runtime/actor.ts";

/** Listeners for live pieces. */
export class LiveFan {
  readonly #listeners = new Set<(delta: LiveDelta) => void>();

  /** Subscribes; gives the way out. */
  listen(listener: (delta: LiveDelta) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Takes a message for the edge; anything but a piece of a conversation's answer is ignored. */
  take(message: Envelope): void {
    if (message.type !== "live.delta" || !message.from.startsWith("conversation/")) return;
    const conversation = message.from.slice("conversation/".length);
    // The supervisor parsed the payload against the catalogue.
    const delta = message.payload as DeltaPayload;
    for (const listener of this.#listeners) listener({ conversation, delta });
  }
}
