/** Bytes as text that needs no escaping anywhere (RFC 4648, section 5, without padding). Pure. Proven by `actors/push/encrypt_test.ts`. */

/** Encodes. */
export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Decodes, padded or not. Throws `SyntaxError` for anything else. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
