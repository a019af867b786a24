/**
 * Push messages to this device. Part of `edge/api.ts`.
 */
import * as z from "zod";

/** `PUT /api/push/subscription`: what the browser's `PushSubscription.toJSON()` gives. One a device; a second takes the first one's place. */
export const PushSubscriptionInput = z.strictObject({
  endpoint: z.string().min(1).max(1_000),
  expirationTime: z.number().nullish(),
  keys: z.strictObject({
    /** 65 bytes: an uncompressed point of P-256. */
    p256dh: z.string().regex(/^B[A-Za-z0-9_-]{86}=?$/, "must be a public key of P-256, base64url"),
    /** 16 bytes. */
    auth: z.string().regex(/^[A-Za-z0-9_-]{22}(==)?$/, "must be 16 bytes, base64url"),
  }),
});
export type PushSubscriptionInput = z.input<typeof PushSubscriptionInput>;

/** What became of a message: taken by the push service, refused, known to be over, or opened. */
export const PushOutcome = z.object({
  state: z.enum(["sent", "failed", "settled", "clicked"]),
  at: z.int(),
});
export type PushOutcome = z.infer<typeof PushOutcome>;

/** `GET /api/push`. `publicKey` is absent where this server cannot push; `subscription` where this device takes no messages. */
export const PushState = z.object({
  publicKey: z.string().optional(),
  subscription: z.object({
    /** To tell whether the browser still has this one. */
    endpoint: z.string(),
    /** `blocked`: the push service says that this browser takes no more; it must subscribe anew. */
    state: z.enum(["on", "blocked"]),
    since: z.int(),
    last: PushOutcome.optional(),
    test: PushOutcome.optional(),
  }).optional(),
});
export type PushState = z.infer<typeof PushState>;

/** `POST /api/push/clicked`: the notification about an item was opened on this device; 204. */
export const PushOpened = z.strictObject({ itemId: z.string().min(1).max(100) });
export type PushOpened = z.infer<typeof PushOpened>;
