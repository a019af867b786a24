/** The envelope of a message that is in memory as an object, as the edge and the supervisor itself are given it. */
import type { Envelope } from "./actor.ts";
import type { EnvelopeParts } from "./mail/mail.ts";

/** A message with its parsed payload. */
export type Unsealed = Omit<EnvelopeParts, "payload"> & { readonly payload: unknown };

/** Makes the envelope. */
export function toEnvelope(message: Unsealed, durable: boolean): Envelope {
  const { id, to, from, type, payload, lane, at, cause, traceparent } = message;
  return {
    id,
    v: 1,
    to,
    from,
    type,
    payload,
    lane,
    durable,
    at,
    cause: cause ?? undefined,
    traceparent: traceparent ?? undefined,
  };
}
