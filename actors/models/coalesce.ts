/**
 * Gathers the small pieces that a provider streams into deltas of about 50 ms, and numbers them.
 *
 * Promises: no character is lost or reordered; pieces of different items are never joined; `seq` counts from 0
 * without holes; nothing is emitted after `close()`. It does not know where the deltas go.
 * Proved by `coalesce_test.ts`.
 */

import type { Clock } from "../../lib/clock.ts";
import type { ModelDelta } from "../protocol/model.ts";
import type { StreamDelta } from "./model_stream.ts";

export interface CoalesceOptions {
  readonly clock: Pick<Clock, "after">;
  /** Names the attempt in every delta. */
  readonly attempt: Pick<ModelDelta, "turnId" | "step" | "attempt">;
  readonly emit: (delta: ModelDelta) => void;
  /** How long pieces are gathered, in milliseconds. @default {50} */
  readonly windowMs?: number;
  /** A delta of this many characters goes out at once. @default {4096} */
  readonly maxChars?: number;
}

export interface Coalescer {
  push(piece: StreamDelta): void;
  /** Emits what is gathered, now. */
  flush(): void;
  /** Emits what is gathered and ignores what comes later. */
  close(): void;
}

/** Starts gathering the deltas of one attempt. */
export function coalesceDeltas(options: CoalesceOptions): Coalescer {
  const { clock, attempt, emit, windowMs = 50, maxChars = 4096 } = options;
  let gathered: StreamDelta | undefined;
  let cancelTimer: (() => void) | undefined;
  let seq = 0;
  let closed = false;

  function flush(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (gathered === undefined) return;
    const piece = gathered;
    gathered = undefined;
    emit({ ...attempt, seq: seq++, ...piece });
  }

  return {
    push(piece) {
      if (closed || piece.delta === "") return;
      if (gathered !== undefined && !isSameItem(gathered, piece)) flush();
      gathered = gathered === undefined
        ? piece
        : { ...gathered, ...piece, delta: gathered.delta + piece.delta };
      if (gathered.delta.length >= maxChars) return flush();
      cancelTimer ??= clock.after(windowMs, () => {
        cancelTimer = undefined;
        flush();
      });
    },
    flush,
    close() {
      flush();
      closed = true;
    },
  };
}

function isSameItem(a: StreamDelta, b: StreamDelta): boolean {
  return a.index === b.index && a.kind === b.kind;
}
