import assert from "node:assert/strict";
import { fromBase64Url, toBase64Url } from "../../lib/base64url.ts";
import { encrypt, freshKeys } from "./encrypt.ts";

/** RFC 8291, section 5. */
const rfc = {
  text: "When I grow up, I want to be a watermelon",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  senderPublic: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  body:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

async function sender(): Promise<CryptoKeyPair> {
  const raw = fromBase64Url(rfc.senderPublic);
  const [x, y] = [toBase64Url(raw.slice(1, 33)), toBase64Url(raw.slice(33))];
  const curve = { name: "ECDH", namedCurve: "P-256" };
  const jwk = { kty: "EC", crv: "P-256", x, y };
  return {
    privateKey: await crypto.subtle.importKey("jwk", { ...jwk, d: rfc.senderPrivate }, curve, false, [
      "deriveBits",
    ]),
    publicKey: await crypto.subtle.importKey("jwk", jwk, curve, true, []),
  };
}

Deno.test("the RFC's own example is encrypted byte for byte", async () => {
  const body = await encrypt(rfc.text, rfc, { salt: fromBase64Url(rfc.salt), keys: await sender() });

  assert.equal(toBase64Url(body), rfc.body);
});

Deno.test("the largest message fills one record, a larger one is refused, and no two bodies are alike", async () => {
  const largest = "a".repeat(3_993);

  const bodies = [
    await encrypt(largest, rfc, await freshKeys()),
    await encrypt(largest, rfc, await freshKeys()),
  ];

  assert.deepEqual(bodies.map(({ length }) => length), [4_096, 4_096]);
  assert.notDeepEqual(bodies[0], bodies[1]);
  await assert.rejects(async () => encrypt(`${largest}a`, rfc, await freshKeys()), RangeError);
});

Deno.test("keys that are no point of the curve are refused by the platform", async () => {
  await assert.rejects(async () => encrypt("x", { ...rfc, p256dh: "AAAA" }, await freshKeys()));
});
