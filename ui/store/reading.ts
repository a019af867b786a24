/**
 * One answer of the server as a signal: read when asked, read again when it may have changed, kept while it is read anew. A call that comes while
 * another is on its way is done after it, so the last value is never older than the last request. Proven by `policy_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { ApiFailure, sentenceOf } from "../api.ts";

/** The answer. */
export interface Reading<Value> {
  /** Undefined until the first answer. */
  readonly value: ReadonlySignal<Value | undefined>;
  readonly error: ReadonlySignal<string | undefined>;
  /** The server knows no such address: what belongs to it is not shown. */
  readonly isMissing: ReadonlySignal<boolean>;
  load(): Promise<void>;
  /** Reads again what was read before; else nothing. */
  refresh(): Promise<void>;
  clear(): void;
}

/** Builds it on `read`. */
export function createReading<Value>(read: () => Promise<Value>): Reading<Value> {
  const value = signal<Value | undefined>(undefined);
  const error = signal<string | undefined>(undefined);
  const isMissing = signal(false);
  let epoch = 0;
  let current: Promise<void> | undefined;
  let isStale = false;

  async function readAll(): Promise<void> {
    do {
      isStale = false;
      const asked = epoch;
      try {
        const answer = await read();
        if (asked !== epoch) return;
        value.value = answer;
        error.value = undefined;
        isMissing.value = false;
      } catch (failure) {
        if (asked !== epoch) return;
        isMissing.value = failure instanceof ApiFailure && (failure.status === 404 || failure.status === 405);
        error.value = sentenceOf(failure);
      }
    } while (isStale);
  }

  async function load(): Promise<void> {
    if (current) isStale = true;
    else {
      current = readAll().finally(() => {
        current = undefined;
      });
    }
    await current;
  }

  return {
    value,
    error,
    isMissing,
    load,
    async refresh() {
      if (value.peek() !== undefined) await load();
    },
    clear() {
      epoch += 1;
      current = undefined;
      value.value = undefined;
      error.value = undefined;
      isMissing.value = false;
    },
  };
}
