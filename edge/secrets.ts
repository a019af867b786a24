/**
 * Bearer secrets: made here, kept only as SHA-256, compared in constant time. Nothing here is ever logged. Proven by `edge/session_test.ts`.
 */
import { sha256Hex } from "../lib/digest.ts";

/** Fills bytes with randomness fit for secrets. Injected, so that tests can number their secrets. */
export type RandomBytes = (length: number) => Uint8Array;

/** The platform's source. */
export const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));

/** The shortest `OWNER_TOKEN` that is let in, in characters. */
export const OWNER_TOKEN_LENGTH = 32;

/** A fresh secret: 256 bits as 43 characters that need no escaping in a URL. */
export function newSecret(random: RandomBytes): string {
  const text = btoa(String.fromCharCode(...random(32)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What is stored of a secret. Secrets have 256 random bits, so a plain hash cannot be turned back. */
export function hashOf(secret: string): string {
  return sha256Hex(secret);
}

/** The token that a page must repeat in a header; it follows from the session's secret, so nothing more is stored or sent. */
export function csrfOf(sessionSecret: string): string {
  return sha256Hex(`callboard csrf\n${sessionSecret}`);
}

/** Whether two secrets are the same, in a time that tells nothing of where they differ. */
export function isSameSecret(given: string, wanted: string): boolean {
  const a = hashOf(given);
  const b = hashOf(wanted);
  let difference = 0;
  for (let index = 0; index < b.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}

/** Throws `RangeError` when an `OWNER_TOKEN` is set and too short to be one; the value is never part of the message. */
export function checkOwnerToken(token: string | undefined): void {
  if (token !== undefined && token.length < OWNER_TOKEN_LENGTH) {
    throw new RangeError(
      `'OWNER_TOKEN' must have at least ${OWNER_TOKEN_LENGTH} characters, received ${token.length}; make one with: openssl rand -base64 32`,
    );
  }
}
