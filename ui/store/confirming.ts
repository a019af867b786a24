/**
 * Proving again who one is when the server asks for it: whoever was refused waits here while a dialog is open, and asks once more when it went well. All
 * who wait share one dialog. Proven by `tests/browser/policy_test.ts` and `tests/browser/passkey_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { sentenceOf } from "../api.ts";
import { tokenIn } from "./session.ts";

/** The question. */
export interface Confirming {
  /** Whether the dialog is open. */
  readonly isAsking: ReadonlySignal<boolean>;
  readonly busy: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  /** Opens the dialog; resolves to whether the person proved who they are. */
  ask(): Promise<boolean>;
  /** Sends what the person gave: a token, or a link that carries one. */
  confirm(text: string): Promise<void>;
  /** Proves by a passkey. */
  confirmByPasskey(): Promise<void>;
  cancel(): void;
}

/** Builds it on the calls that prove. */
export function createConfirming(
  prove: (token: string) => Promise<void>,
  proveByPasskey: () => Promise<void>,
): Confirming {
  const isAsking = signal(false);
  const busy = signal(false);
  const error = signal<string | undefined>(undefined);
  let waiting: PromiseWithResolvers<boolean> | undefined;

  function end(isProven: boolean): void {
    isAsking.value = false;
    error.value = undefined;
    waiting?.resolve(isProven);
    waiting = undefined;
  }

  async function attempt(call: () => Promise<void>): Promise<void> {
    busy.value = true;
    error.value = undefined;
    try {
      await call();
      end(true);
    } catch (failure) {
      error.value = sentenceOf(failure);
    } finally {
      busy.value = false;
    }
  }

  return {
    isAsking,
    busy,
    error,
    ask() {
      waiting ??= Promise.withResolvers<boolean>();
      isAsking.value = true;
      return waiting.promise;
    },
    confirm: (text) => attempt(() => prove(tokenIn(text))),
    confirmByPasskey: () => attempt(proveByPasskey),
    cancel: () => end(false),
  };
}
