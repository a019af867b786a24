/**
 * Encrypts a push message for one browser, so that the push service carries it and cannot read it: RFC 8291 over RFC 8188 (`aes128gcm`), one
 * record. The salt and the sender's key pair are new for each message and are parameters, so that the RFC's own example can be computed. It sends
 * nothing. Proven by `encrypt_test.ts`.
 */
import { fromBase64Url } from "../../lib/base64url.ts";

/** What a browser gave away of its keys, base64url. */
export interface ReceiverKeys {
  /** Its public key, an uncompressed point of P-256. */
  readonly p256dh: string;
  /** Its authentication secret, 16 bytes. */
  readonly auth: string;
}

/** What is new for each message. */
export interface Fresh {
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly keys: CryptoKeyPair;
}

const RECORD_BYTES = 4_096;
/** What the record, the header (86) and the tag (16) leave for text, less the delimiter. */
const MAX_TEXT_BYTES = 3_993;
const LAST_RECORD = 2;
const curve = { name: "ECDH", namedCurve: "P-256" } as const;
const utf8 = new TextEncoder();

/** Randomness for one message. */
export async function freshKeys(): Promise<Fresh> {
  return {
    salt: crypto.getRandomValues(new Uint8Array(16)),
    keys: await crypto.subtle.generateKey(curve, true, ["deriveBits"]),
  };
}

/** The body of the request. Throws `RangeError` for a text that no push service takes, and what the platform throws for keys that are none. */
export async function encrypt(
  text: string,
  { p256dh, auth }: ReceiverKeys,
  { salt, keys }: Fresh,
): Promise<Uint8Array<ArrayBuffer>> {
  const plain = utf8.encode(text);
  if (plain.length > MAX_TEXT_BYTES) {
    throw new RangeError(`'text' must have at most ${MAX_TEXT_BYTES} bytes, received ${plain.length}`);
  }
  const theirs = fromBase64Url(p256dh);
  const ours = new Uint8Array(await crypto.subtle.exportKey("raw", keys.publicKey));
  const receiver = await crypto.subtle.importKey("raw", theirs, curve, false, []);
  const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: receiver }, keys.privateKey, 256);
  const secret = await hkdf(
    new Uint8Array(shared),
    fromBase64Url(auth),
    joined(utf8.encode("WebPush: info\0"), theirs, ours),
    32,
  );
  const key = await hkdf(secret, salt, utf8.encode("Content-Encoding: aes128gcm\0"), 16);
  const iv = await hkdf(secret, salt, utf8.encode("Content-Encoding: nonce\0"), 12);
  const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const record = joined(plain, Uint8Array.of(LAST_RECORD));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cipher, record);
  return joined(salt, recordSize(), Uint8Array.of(ours.length), ours, new Uint8Array(sealed));
}

/** HKDF with SHA-256 (RFC 5869), `length` bytes. */
export async function hkdf(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, length * 8);
  return new Uint8Array(bits);
}

/** Bytes one after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function recordSize(): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, RECORD_BYTES);
  return bytes;
}
