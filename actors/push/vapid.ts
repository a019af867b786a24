/**
 * Says to a push service who sends (RFC 8292): a token for that service alone, signed with the key that the browser subscribed to. It keeps no key.
 * Proven by `gateway_test.ts`, whose push service checks the signature.
 */
import { fromBase64Url, toBase64Url } from "../../lib/base64url.ts";
import { joined } from "./encrypt.ts";
import type { VapidKey } from "./config.ts";

/** A token is good for so long; services refuse more than 24 hours. */
const GOOD_FOR_SECONDS = 12 * 3_600;

/** The key's public half as browsers and services want it: an uncompressed point, base64url. */
export function publicKeyOf({ x, y }: Pick<VapidKey, "x" | "y">): string {
  return toBase64Url(joined(Uint8Array.of(4), fromBase64Url(x), fromBase64Url(y)));
}

/** The header `Authorization` for a request to `endpoint`. `now`: milliseconds since the epoch. */
export async function authorization(
  key: VapidKey,
  { endpoint, contact, now }: { readonly endpoint: string; readonly contact: string; readonly now: number },
): Promise<string> {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now / 1000) + GOOD_FOR_SECONDS,
    sub: contact,
  };
  const unsigned = `${encoded({ typ: "JWT", alg: "ES256" })}.${encoded(claims)}`;
  const signer = await crypto.subtle.importKey(
    "jwk",
    { kty: "EC", crv: "P-256", x: key.x, y: key.y, d: key.d },
    { name: "ECDSA", namedCurve: "P-256" },
    false,
    ["sign"],
  );
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    signer,
    new TextEncoder().encode(unsigned),
  );
  return `vapid t=${unsigned}.${toBase64Url(new Uint8Array(signature))}, k=${publicKeyOf(key)}`;
}

function encoded(value: unknown): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}
