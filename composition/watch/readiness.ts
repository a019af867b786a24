/**
 * Why the whole cannot do its work, in words for the operator: a singleton that does not live although it should. A gateway on demand may sleep,
 * and conversations are nobody's readiness: they may sleep or be parked. Pure. Proven by `watch_test.ts`.
 */
import type { ActorView } from "../../runtime/tree.ts";

/** One sentence for each singleton that is down; empty when all live. */
export function unreadySingletons(actors: readonly ActorView[]): string[] {
  return actors.filter(({ ref, kind, state, onDemand }) => ref === kind && state !== "live" && !onDemand)
    .map(whyDown);
}

function whyDown({ ref, lastDown }: ActorView): string {
  // How the last incarnation of an earlier supervisor ended is no reason now.
  const ended = lastDown && !["lost", "shutdown"].includes(lastDown.reason);
  if (!ended) return `${ref} is starting`;
  return `${ref} is down (${lastDown.reason}) and is started again; see the Actors page`;
}
