/**
 * A question to the server whose answer is only looked at: the last one asked wins, whatever order answers arrive in. Proven by `policy_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { sentenceOf } from "../api.ts";

/** The question. */
export interface Asking<Question, Answer> {
  readonly answer: ReadonlySignal<Answer | undefined>;
  readonly error: ReadonlySignal<string | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  ask(question: Question): Promise<void>;
  clear(): void;
}

/** Builds it on `read`. */
export function createAsking<Question, Answer>(
  read: (question: Question) => Promise<Answer>,
): Asking<Question, Answer> {
  const answer = signal<Answer | undefined>(undefined);
  const error = signal<string | undefined>(undefined);
  const isBusy = signal(false);
  let last = 0;
  return {
    answer,
    error,
    isBusy,
    async ask(question) {
      last += 1;
      const own = last;
      isBusy.value = true;
      try {
        const found = await read(question);
        if (own !== last) return;
        answer.value = found;
        error.value = undefined;
      } catch (failure) {
        if (own !== last) return;
        answer.value = undefined;
        error.value = sentenceOf(failure);
      } finally {
        if (own === last) isBusy.value = false;
      }
    },
    clear() {
      last += 1;
      answer.value = undefined;
      error.value = undefined;
      isBusy.value = false;
    },
  };
}
