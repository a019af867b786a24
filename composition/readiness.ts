/**
 * Why the whole cannot do its work, in words for the operator: a singleton that does not live. Conversations are nobody's readiness: they may
 * sleep or be parked. Pure. Proven by `operations_test.ts`.
 */
import type { ActorView } from "../runtime/tree.ts";

/** One sentence for each singleton that is down; empty when all live. */
export function unreadySingletons(actors: readonly ActorView[]): string[] {
  return actors.filter(({ ref, kind, state }) => ref === kind && state !== "live").map(whyDown);
}

function whyDown({ ref, restarts, lastDown }: ActorView): string {
  // An end of an earlier supervisor's incarnation is no reason now.
  if (restarts === 0 || lastDown === undefined) return `${ref} is starting`;
  return `${ref} is down (${lastDown.reason}) and is started again; see the Actors page`;
}
