/**
 * Passkeys. Part of `edge/api.ts`. What a browser is asked (`…/options`) and answers are the JSON forms of WebAuthn Level 3; every `…/options`
 * answers a challenge that is good for one answer within five minutes.
 */
import * as z from "zod";

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/).max(64 * 1024);
const name = z.string().trim().min(1).max(100);

/** A browser's answers are not strict: they grow with the standard, and what is not named here is left out. */
const credential = {
  id: base64url.max(1400),
  rawId: base64url.max(1400),
  type: z.literal("public-key"),
};

/** `POST /api/passkeys`: what the browser made of `POST /api/passkeys/options`; 201. Both need a sign-in or proof of the last ten minutes. */
export const PasskeyRegistration = z.strictObject({
  name,
  response: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z.array(z.string().max(32)).max(16).optional(),
    }),
  }),
});
export type PasskeyRegistration = z.infer<typeof PasskeyRegistration>;

const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.max(128).nullish(),
  }),
});

/** `POST /api/session/passkey`: the answer to `…/options`; signs in like `POST /api/session`. */
export const PasskeySignIn = z.strictObject({ response: assertion, device: name.optional() });
export type PasskeySignIn = z.infer<typeof PasskeySignIn>;

/** `POST /api/session/confirm/passkey`: the answer to `…/options`, by a passkey of the same person; 204. */
export const PasskeyConfirmation = z.strictObject({ response: assertion });
export type PasskeyConfirmation = z.infer<typeof PasskeyConfirmation>;

/** `GET /api/passkeys/offer`, for everybody: whether one may sign in by a passkey here. */
export const PasskeyOffer = z.object({
  offered: z.boolean(),
  /** Why not, in a sentence. */
  why: z.string().optional(),
  /** Whether anybody has one. */
  known: z.boolean(),
});
export type PasskeyOffer = z.infer<typeof PasskeyOffer>;

/** `GET /api/passkeys`: one's own. */
export const PasskeyView = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.int(),
  usedAt: z.int().nullable(),
  /** It is, or may be, kept on several devices. */
  synced: z.boolean(),
});
export type PasskeyView = z.infer<typeof PasskeyView>;
export const PasskeyList = z.object({
  passkeys: z.array(PasskeyView),
  /** Removing the last one leaves no way in but a link that somebody else makes; `DELETE /api/passkeys/:id` then needs `?last=accepted`. */
  lastWayIn: z.boolean(),
});
export type PasskeyList = z.infer<typeof PasskeyList>;

/** `PATCH /api/passkeys/:id`; 204. */
export const PasskeyRename = z.strictObject({ name });
export type PasskeyRename = z.infer<typeof PasskeyRename>;
