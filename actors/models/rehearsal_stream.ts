/**
 * Plays the rehearsal script as a stream, in small pieces, as a real model would.
 *
 * Promises those of `ModelStream`; costs nothing; the pace comes from the clock it is given. What is said is decided
 * in `rehearsal.ts`. Proved by `rehearsal_test.ts`.
 */

import { type Clock, sleep } from "../../lib/clock.ts";
import type { ModelItem } from "../protocol/model.ts";
import type { ModelStream, StreamDelta } from "./model_stream.ts";
import { rehearse } from "./rehearsal.ts";

export interface RehearsalOptions {
  readonly clock: Clock;
  /** Pause before each piece, in milliseconds; 0 for none. @default {12} */
  readonly paceMs?: number;
}

/** Makes the scripted stream. */
export function createRehearsalStream({ clock, paceMs = 12 }: RehearsalOptions): ModelStream {
  return async ({ turnId, step, attempt, model, system, items: history, tools }, { signal, onDelta }) => {
    const items = rehearse(history, tools);
    try {
      signal.throwIfAborted();
      for (const delta of items.flatMap(pieces)) {
        if (paceMs > 0) await sleep(clock, paceMs, signal);
        onDelta(delta);
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      return {
        turnId,
        step,
        attempt,
        error: { class: "aborted", message: "The model step was cancelled." },
        items: [],
      };
    }
    const usage = {
      inputTokens: estimateTokens(system + JSON.stringify(history)),
      outputTokens: estimateTokens(JSON.stringify(items)),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0,
    };
    const stopReason = items.some((item) => item.type === "tool_call") ? "tool_use" : "stop";
    return { turnId, step, attempt, model, items, usage, stopReason };
  };
}

/** Cuts an item into words, keeping every character. */
function pieces(item: ModelItem, index: number): StreamDelta[] {
  if (item.type === "tool_call") {
    return [{ kind: "tool_input", index, delta: item.arguments, callId: item.callId }];
  }
  const kind = item.type === "assistant" ? "text" : "reasoning";
  return (item.text.match(/\s*\S+\s?/g) ?? []).map((delta) => ({ kind, index, delta }));
}

/** About four characters a token. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
