/**
 * Carries out what a person wants with a message that was given up: try it again, or let it rest. Promises that doing so twice is the same as
 * once. Throws a `RangeError` with words for the person when it cannot be done. Proven by `tests/e2e/dead_letter_test.ts`.
 */
import type { DeadLetterSettle } from "../actors/protocol/conversation.ts";
import { findDeadLetter, settleStatements } from "../store/dead_letters.ts";
import type { Store } from "../store/store.ts";

/** What settling needs. */
export interface SettleOptions {
  readonly store: Pick<Store, "query" | "commit">;
  readonly now: number;
  readonly newId: () => string;
}

/** Settles one. Rejects with `RangeError`. */
export async function settleDeadLetter(
  { id, action }: Pick<DeadLetterSettle, "id" | "action">,
  { store, now, newId }: SettleOptions,
): Promise<void> {
  const wanted = action === "retry" ? "retried" : "discarded";
  const outcome = await store.commit({
    id: `settle ${id}`,
    statements: settleStatements(id, wanted, { now, newId }),
  });
  if (outcome.ok) return;
  const letter = await findDeadLetter(store, id);
  // This very command was carried out before a crash, and is handled again.
  if (letter?.settled === wanted) return;
  if (!letter) throw new RangeError("there is no such dead letter");
  if (letter.settled) throw new RangeError(`it was ${letter.settled} already`);
  if (outcome.error.code === "guard_failed") {
    throw new RangeError("its message is not kept any more; it can only be discarded");
  }
  throw new Error(`not committed: ${outcome.error.message}`);
}
