/**
 * Changes under way, by a key that names what is changed: shown as busy until the actor that carries them out has answered, as refused with the
 * reason when it did not. A change that was only accepted is followed by its id. Nothing is shown as changed before it is. Proven by `policy_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Api, sentenceOf } from "../api.ts";
import type { Change } from "../policy_api.ts";
import { strings } from "../strings.ts";

/** Where one change is. */
export type Progress =
  | { readonly phase: "sending" }
  | { readonly phase: "accepted" }
  | { readonly phase: "refused"; readonly message: string };

/** The changes. */
export interface Changes {
  readonly progress: ReadonlySignal<ReadonlyMap<string, Progress>>;
  /** Runs a change; resolves to whether it was carried out, when that is known. A key that is busy is not run twice. */
  run(key: string, request: () => Promise<Change>): Promise<boolean>;
  /** Forgets a refusal. */
  forget(key: string): void;
  clear(): void;
}

/** How often and how many times an accepted change is asked about. */
const FOLLOW_MS = 2_000;
const FOLLOW_TIMES = 30;

/** Builds it. `onDone` hears of every change that was carried out; `wait` resolves after so many milliseconds. */
export function createChanges(
  api: Api,
  options: { readonly onDone: () => Promise<void>; readonly wait: (ms: number) => Promise<void> },
): Changes {
  const progress = signal<ReadonlyMap<string, Progress>>(new Map());

  function note(key: string, entry: Progress | undefined): void {
    const next = new Map(progress.peek());
    if (entry) next.set(key, entry);
    else next.delete(key);
    progress.value = next;
  }

  async function follow(id: string): Promise<void> {
    for (let time = 0; time < FOLLOW_TIMES; time += 1) {
      await options.wait(FOLLOW_MS);
      const status = await api.command(id);
      if (status.state === "done") return;
      if (status.state === "failed") throw new Error(status.error?.message ?? strings.errors.unexpected);
    }
    throw new Error(strings.policy.stillOpen);
  }

  return {
    progress,
    async run(key, request) {
      const phase = progress.peek().get(key)?.phase;
      if (phase === "sending" || phase === "accepted") return false;
      note(key, { phase: "sending" });
      try {
        const change = await request();
        if (!change.settled) {
          note(key, { phase: "accepted" });
          await follow(change.command);
        }
        await options.onDone();
        note(key, undefined);
        return true;
      } catch (failure) {
        const message = failure instanceof Error && failure.name === "Error"
          ? failure.message
          : sentenceOf(failure);
        note(key, { phase: "refused", message });
        return false;
      }
    },
    forget: (key) => note(key, undefined),
    clear() {
      progress.value = new Map();
    },
  };
}
