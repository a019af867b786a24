/**
 * Where live pieces and the log meet. The two come by different ways, so a piece may be early (its turn is not in the log yet: it is kept) or late (the log
 * already has what it is a piece of: it is dropped). Names of pieces of text are `turn.step.attempt.index`; an attempt's items are committed all at
 * once. Proven by `chat_test.ts`.
 */
import type { ConversationEvent, Delta } from "../../edge/api.ts";
import { applyDelta } from "../../lib/transcript.ts";
import type { Transcript } from "../../lib/transcript_view.ts";

/** The most pieces kept for a turn that the log does not show yet. */
const EARLY = 500;

/** The pieces of one open conversation. */
export interface LivePieces {
  /** The transcript with a piece laid over it. */
  place(view: Transcript, delta: Delta): Transcript;
  /** The transcript after `events` with the pieces that were early for it. */
  settle(view: Transcript, events: readonly ConversationEvent[]): Transcript;
  clear(): void;
}

/** Builds it. */
export function createLivePieces(): LivePieces {
  const committed = new Set<string>();
  let early: readonly Delta[] = [];

  function place(view: Transcript, delta: Delta): Transcript {
    if (delta.kind !== "output" && committed.has(delta.item.slice(0, delta.item.lastIndexOf(".")))) {
      return view;
    }
    if (view.entries.some((entry) => entry.id === delta.turnId)) return applyDelta(view, delta);
    early = [...early.slice(1 - EARLY), delta];
    return view;
  }

  return {
    place,
    settle(view, events) {
      for (const event of events) {
        const attempt = committedAttempt(event);
        if (attempt !== undefined) committed.add(attempt);
      }
      const kept = early;
      early = [];
      return kept.reduce(place, view);
    },
    clear() {
      committed.clear();
      early = [];
    },
  };
}

/** The attempt that an event is the outcome of. A step's start is none yet. */
function committedAttempt({ type, payload }: ConversationEvent): string | undefined {
  if (type === "step_started" || typeof payload !== "object" || payload === null) return undefined;
  if (!("turnId" in payload && "step" in payload && "attempt" in payload)) return undefined;
  return `${payload.turnId}.${payload.step}.${payload.attempt}`;
}
