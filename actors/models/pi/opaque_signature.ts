/**
 * The `signature` of a history item: what a provider wants back, labelled with the model that made it.
 *
 * Pure. Promises: a signature is only ever given back to the model that made it; one that cannot be read, or that
 * comes from another model, counts as none. Proved by `pi_messages_test.ts`.
 */

import * as z from "zod";

const OpaqueSignature = z.object({
  /** `provider/model` that made it. */
  model: z.string(),
  value: z.string(),
  /** The reasoning was hidden by the provider: `value` is all there is of it. */
  redacted: z.literal(true).optional(),
});
export type OpaqueSignature = z.infer<typeof OpaqueSignature>;

/** Writes a signature into the form that a history item keeps. */
export function sealSignature(signature: OpaqueSignature): string {
  return JSON.stringify(signature);
}

/** Reads a history item's signature if `model` made it. */
export function openSignature(sealed: string | undefined, model: string): OpaqueSignature | undefined {
  if (sealed === undefined) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(sealed);
  } catch {
    return undefined;
  }
  const parsed = OpaqueSignature.safeParse(json);
  return parsed.success && parsed.data.model === model ? parsed.data : undefined;
}
