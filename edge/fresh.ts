/**
 * A recent proof of who is there, for changes that outlast a stolen session: rules, groups, the gate, people, sign-in links, passkeys and lasting
 * decisions. Asked for where it can be given anywhere: with an `OWNER_TOKEN`, and of whoever has a passkey. Without either the only proof is a link
 * printed on the server itself, and whoever sits there needs no session. Proven by `edge/fresh_test.ts` and `edge/passkeys_test.ts`.
 */
import type { Context } from "hono";
import { type DecisionKind, isAllowing, isLasting } from "../lib/decision_kind.ts";
import type { DecisionRequest } from "./api.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";

/** How long a proof lasts, in milliseconds. */
export const FRESH_MS = 10 * 60_000;

/** Throws `reauthenticate` unless the person has signed in or confirmed a moment ago. */
export function requireFresh(c: Context<EdgeEnv>, edge: Edge): void {
  if (edge.config.ownerToken === undefined && !c.get("session").hasPasskey) return;
  requireRecent(c, edge);
}

/** `requireFresh` wherever it may be hard to give: for what makes further proofs. */
export function requireRecent(c: Context<EdgeEnv>, edge: Edge): void {
  if (edge.clock.now() - c.get("session").authenticatedAt < FRESH_MS) return;
  throw new ApiError("reauthenticate", "This needs a recent sign-in; confirm that it is you");
}

/** Whether a decision reaches beyond its one call so far that only the owner may make it. */
export function isFarReaching({ decision, scope }: Pick<DecisionRequest, "decision" | "scope">): boolean {
  return isLasting(decision) || decision === "allow_session" && scope !== undefined && scope !== "tool";
}

/** Whether a decision allows a call of high risk, where its person can prove by a touch that it is they. Without a passkey it stays quick. */
export function isRisky(c: Context<EdgeEnv>, risk: string | undefined, decision: DecisionKind): boolean {
  return risk === "high" && isAllowing(decision) && c.get("session").hasPasskey;
}
