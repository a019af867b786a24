/**
 * The browser's half of Web Push: makes the keys that a subscription gives away and decrypts what comes (RFC 8291), by the private key that never
 * leaves it. Written from the RFC's receiving side, so that it would not share a mistake of the sender.
 */
import { fromBase64Url, toBase64Url } from "../../../lib/base64url.ts";

const curve = { name: "ECDH", namedCurve: "P-256" } as const;
const utf8 = new TextEncoder();

/** One subscription's keys. */
export class BrowserKeys {
  private constructor(
    readonly p256dh: string,
    readonly auth: string,
    readonly privateKey: CryptoKey,
  ) {}

  static async make(): Promise<BrowserKeys> {
    const { publicKey, privateKey } = await crypto.subtle.generateKey(curve, true, ["deriveBits"]);
    const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
    const auth = crypto.getRandomValues(new Uint8Array(16));
    return new BrowserKeys(toBase64Url(raw), toBase64Url(auth), privateKey);
  }

  /** The text of a body. Rejects when it was not encrypted to these keys. */
  async decrypt(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const view = new DataView(body.buffer, body.byteOffset);
    const salt = body.slice(0, 16);
    const idLength = view.getUint8(20);
    const sender = body.slice(21, 21 + idLength);
    const record = body.slice(21 + idLength);
    if (record.length > view.getUint32(16)) throw new RangeError("more than one record");
    const public_ = await crypto.subtle.importKey("raw", sender, curve, false, []);
    const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: public_ }, this.privateKey, 256);
    const info = [...utf8.encode("WebPush: info\0"), ...fromBase64Url(this.p256dh), ...sender];
    const secret = await derive(shared, fromBase64Url(this.auth), Uint8Array.from(info), 256);
    const key = await derive(secret, salt, utf8.encode("Content-Encoding: aes128gcm\0"), 128);
    const iv = await derive(secret, salt, utf8.encode("Content-Encoding: nonce\0"), 96);
    const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
    const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, cipher, record));
    const end = plain.findLastIndex((byte) => byte !== 0);
    if (plain[end] !== 2) throw new RangeError("the last record's delimiter is missing");
    return new TextDecoder().decode(plain.subarray(0, end));
  }
}

async function derive(
  secret: ArrayBuffer,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bits: number,
): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, bits);
}
