/**
 * The WebAuthn ceremonies: makes and uses up challenges, asks for user verification always, and holds every answer to our origin, name and the
 * stored key. The library is loaded by the first ceremony, because it is large. It knows nothing of routes. Proven by `edge/passkeys_test.ts`.
 */
import type { VerifiedAuthenticationResponse, VerifiedRegistrationResponse } from "@simplewebauthn/server";
import { findPasskey, listPasskeys, type NewPasskey, type Passkey } from "../store/edge/passkeys.ts";
import {
  CHALLENGE_MS,
  type ChallengePurpose,
  insertChallenge,
  useChallenge,
} from "../store/edge/webauthn_challenges.ts";
import type { PasskeyConfirmation, PasskeyRegistration } from "./api.ts";
import type { Edge } from "./deps.ts";
import type { RelyingParty } from "./relying_party.ts";
import { hashOf } from "./secrets.ts";

/** EdDSA, ES256 and RS256, as COSE numbers them. */
const ALGORITHMS = [-8, -7, -257];

/** The library, loaded at its first use. */
const library = () => import("@simplewebauthn/server");

/** A person, as far as a ceremony needs to know them. */
export interface Holder {
  readonly userId: string;
  readonly userName: string;
}

/** An answer that proved a passkey. */
export interface Proven {
  readonly passkey: Passkey;
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** What a browser is asked to make a passkey of, none of those that the person has. Rejects with `DbError`. */
export async function registrationOptions(edge: Edge, party: RelyingParty, holder: Holder) {
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: "Callboard",
    rpID: party.id,
    userID: new TextEncoder().encode(handleOf(party, holder.userId)),
    userName: holder.userName,
    userDisplayName: holder.userName,
    challenge: challengeBytes(edge),
    timeout: CHALLENGE_MS,
    attestationType: "none",
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: await descriptors(edge, holder.userId),
    supportedAlgorithmIDs: ALGORITHMS,
  });
  await keep(edge, options.challenge, "register", holder.userId);
  return options;
}

/** What a browser is asked for a proof. Without `userId` anybody's passkey will do, and the browser offers what it has. Rejects with `DbError`. */
export async function proofOptions(edge: Edge, party: RelyingParty, userId?: string) {
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: challengeBytes(edge),
    timeout: CHALLENGE_MS,
    userVerification: "required",
    allowCredentials: userId === undefined ? [] : await descriptors(edge, userId),
  });
  await keep(edge, options.challenge, userId === undefined ? "sign_in" : "confirm", userId ?? null);
  return options;
}

/** The passkey that a browser made; undefined when the answer is not to be trusted. Rejects with `DbError`. */
export async function verifyRegistration(
  edge: Edge,
  party: RelyingParty,
  userId: string,
  { name, response }: PasskeyRegistration,
): Promise<NewPasskey | undefined> {
  const challenge = await answered(edge, response.response.clientDataJSON, "register", userId);
  if (challenge === undefined) return undefined;
  const { verifyRegistrationResponse } = await library();
  const { clientDataJSON, attestationObject } = response.response;
  const verified = await trusted<VerifiedRegistrationResponse>(edge, () =>
    verifyRegistrationResponse({
      response: {
        id: response.id,
        rawId: response.rawId,
        type: response.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }));
  if (!verified?.verified) return undefined;
  const { credential, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
  return {
    id: credential.id,
    userId,
    publicKey: credential.publicKey,
    counter: credential.counter,
    transports: response.response.transports ?? [],
    name,
    isMultiDevice: credentialDeviceType === "multiDevice",
    isBackedUp: credentialBackedUp,
  };
}

/**
 * The passkey that an answer proves; undefined when it proves none. With `userId` only that person's will do. The caller notes the use
 * (`usePasskey`) in the batch of what it allows. Rejects with `DbError`.
 */
export async function verifyProof(
  edge: Edge,
  party: RelyingParty,
  response: PasskeyConfirmation["response"],
  userId?: string,
): Promise<Proven | undefined> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response.response;
  const purpose = userId === undefined ? "sign_in" : "confirm";
  const challenge = await answered(edge, clientDataJSON, purpose, userId ?? null);
  const passkey = challenge === undefined ? undefined : await findPasskey(edge.db, response.id);
  if (challenge === undefined || passkey === undefined) return undefined;
  if (userId !== undefined && passkey.userId !== userId) return undefined;
  if (!isHandle(userHandle, handleOf(party, passkey.userId), userId === undefined)) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const verified = await trusted<VerifiedAuthenticationResponse>(edge, () =>
    verifyAuthenticationResponse({
      response: {
        id: response.id,
        rawId: response.rawId,
        type: response.type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
    }));
  if (!verified?.verified) return undefined;
  const { newCounter, credentialBackedUp } = verified.authenticationInfo;
  return { passkey, counter: newCounter, isBackedUp: credentialBackedUp };
}

/**
 * What an authenticator keeps instead of the person's id: no name, and another one at each origin, or two Callboards on one machine would
 * overwrite each other's passkeys. 64 characters, WebAuthn's limit in bytes.
 */
function handleOf({ origin }: RelyingParty, userId: string): string {
  return hashOf(`callboard passkey\n${origin}\n${userId}`);
}

/** Whether an answer names the passkey's owner. Only where nobody is known yet it must. */
function isHandle(given: string | null | undefined, wanted: string, isNeeded: boolean): boolean {
  if (given === null || given === undefined) return !isNeeded;
  return given === btoa(wanted).replaceAll("=", "");
}

function challengeBytes(edge: Edge): Uint8Array<ArrayBuffer> {
  return new Uint8Array(edge.randomBytes(32));
}

async function descriptors(edge: Edge, userId: string): Promise<{ id: string; transports: string[] }[]> {
  return (await listPasskeys(edge.db, userId)).map(({ id, transports }) => ({
    id,
    transports: [...transports],
  }));
}

async function keep(
  edge: Edge,
  challenge: string,
  purpose: ChallengePurpose,
  userId: string | null,
): Promise<void> {
  await edge.db.batch(insertChallenge({ hash: hashOf(challenge), purpose, userId }, edge.clock.now()));
}

/** The challenge that an answer names, used up by this; undefined when it is none of ours. */
async function answered(
  edge: Edge,
  clientDataJSON: string,
  purpose: ChallengePurpose,
  userId: string | null,
): Promise<string | undefined> {
  const challenge = challengeIn(clientDataJSON);
  if (challenge === undefined) return undefined;
  const isOurs = await useChallenge(edge.db, { hash: hashOf(challenge), purpose, userId }, edge.clock.now());
  return isOurs ? challenge : undefined;
}

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const data: unknown = JSON.parse(atob(clientDataJSON.replaceAll("-", "+").replaceAll("_", "/")));
    if (typeof data !== "object" || data === null || !("challenge" in data)) return undefined;
    return typeof data.challenge === "string" ? data.challenge : undefined;
  } catch {
    return undefined;
  }
}

/** What the library verified. It throws for every answer that it refuses; its words may quote the answer, so only the kind is logged. */
async function trusted<T>(edge: Edge, verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch (error) {
    edge.log("warn", "A passkey's answer was refused", {
      reason: error instanceof Error ? error.name : typeof error,
    });
    return undefined;
  }
}
