/**
 * Whether a model that somebody chooses can be used at all, by the configuration of the providers; where that is not at hand (an edge without its
 * supervisor), any may be chosen. Proven by `edge/conversations_test.ts`.
 */
import type { Edge } from "./deps.ts";
import { ApiError } from "./errors.ts";

/** Throws `bad_request` with what can be chosen. No model is the installation's own. */
export function requireUsableModel(edge: Pick<Edge, "modelRefusal">, model: string | null | undefined): void {
  const refusal = model == null ? undefined : edge.modelRefusal?.(model);
  if (refusal !== undefined) throw new ApiError("bad_request", refusal);
}
