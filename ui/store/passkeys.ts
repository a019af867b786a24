/**
 * One's own passkeys, and whether passkeys can be used at this address. Proven by `tests/browser/passkey_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { PasskeyList } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";
import { strings } from "../strings.ts";

/** The passkeys. */
export interface PasskeyStore {
  /** Whether this browser knows passkeys. */
  readonly isSupported: boolean;
  readonly list: ReadonlySignal<PasskeyList | undefined>;
  /** Whether they can be used; undefined until that is known. */
  readonly isOffered: ReadonlySignal<boolean | undefined>;
  /** Why they cannot. */
  readonly why: ReadonlySignal<string | undefined>;
  /** Whether anybody has one: else the door need not speak of them. */
  readonly areKnown: ReadonlySignal<boolean>;
  readonly busy: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  loadOffer(): Promise<void>;
  load(): Promise<void>;
  add(name: string): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  /** Takes it away, the last way in too: the person has read what that means. */
  remove(id: string): Promise<void>;
  clear(): void;
}

/** Builds the store. `onChange` is told when a passkey came or went. */
export function createPasskeys(
  api: Api,
  { isSupported, onChange }: { readonly isSupported: boolean; readonly onChange: () => Promise<unknown> },
): PasskeyStore {
  const list = signal<PasskeyList | undefined>(undefined);
  const isOffered = signal<boolean | undefined>(undefined);
  const why = signal<string | undefined>(undefined);
  const areKnown = signal(false);
  const busy = signal(false);
  const error = signal<string | undefined>(undefined);

  async function attempt(call: () => Promise<void>): Promise<void> {
    busy.value = true;
    error.value = undefined;
    try {
      await call();
    } catch (failure) {
      error.value = sentenceOf(failure);
    } finally {
      busy.value = false;
    }
  }

  const load = async (): Promise<void> => {
    list.value = await api.passkeys();
  };

  return {
    isSupported,
    list,
    isOffered,
    why,
    areKnown,
    busy,
    error,
    async loadOffer() {
      // Without an answer the door stays as it is without passkeys.
      const offer = await api.passkeyOffer().catch(() => undefined);
      if (offer === undefined) return;
      areKnown.value = offer.known;
      why.value = offer.why ?? (isSupported ? undefined : strings.passkeys.unsupported);
      isOffered.value = offer.offered && isSupported;
    },
    load: () => attempt(load),
    add: (name) =>
      attempt(async () => {
        await api.addPasskey(name);
        await Promise.all([load(), onChange()]);
      }),
    rename: (id, name) =>
      attempt(async () => {
        await api.renamePasskey(id, name);
        await load();
      }),
    remove: (id) =>
      attempt(async () => {
        const known = list.peek();
        await api.removePasskey(id, known?.lastWayIn === true && known.passkeys.length === 1);
        await Promise.all([load(), onChange()]);
      }),
    clear() {
      list.value = undefined;
      error.value = undefined;
    },
  };
}
