/**
 * Text that only its receiver can read: sealed where it comes in, opened in the memory of the one process that asked for it. In between it is stored,
 * logged and sent like any other text. ECDH on P-256 with a key for one message, HKDF-SHA-256, AES-256-GCM. The private key cannot be taken out
 * and ends with its process. Randomness is WebCrypto's own. Proven by `sealed_test.ts`.
 */

/** Where to seal to: the coordinates of a P-256 point, base64url. */
export interface SealTo {
  readonly x: string;
  readonly y: string;
}

/** A pair of keys for one question. */
export interface SealKey {
  readonly sealTo: SealTo;
  /** The text, or undefined when it was not sealed to this key, or was touched. */
  open(sealed: string): Promise<string | undefined>;
}

const PREFIX = "sealed:1:";
const CURVE = { name: "ECDH", namedCurve: "P-256" } as const;
const INFO = new TextEncoder().encode("callboard sealed answer 1");

/** Makes a pair of keys. */
export async function newSealKey(): Promise<SealKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
  const { x = "", y = "" } = await crypto.subtle.exportKey("jwk", publicKey);
  return {
    sealTo: { x, y },
    async open(sealed) {
      if (!isSealed(sealed)) return undefined;
      const [ex = "", ey = "", iv = "", data = ""] = sealed.slice(PREFIX.length).split(".");
      try {
        const key = await shared(privateKey, await importPoint({ x: ex, y: ey }));
        const params = { name: "AES-GCM", iv: fromBase64(iv) };
        return new TextDecoder().decode(await crypto.subtle.decrypt(params, key, fromBase64(data)));
      } catch {
        return undefined;
      }
    },
  };
}

/** Seals a text. Rejects when the point is none. */
export async function seal(to: SealTo, text: string): Promise<string> {
  const once = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
  const { x, y } = await crypto.subtle.exportKey("jwk", once.publicKey);
  const key = await shared(once.privateKey, await importPoint(to));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text));
  return `${PREFIX}${x}.${y}.${toBase64(iv)}.${toBase64(new Uint8Array(data))}`;
}

/** Whether a text was made by `seal`. */
export function isSealed(text: string): boolean {
  return /^sealed:1:[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}

async function importPoint({ x, y }: SealTo): Promise<CryptoKey> {
  return await crypto.subtle.importKey("jwk", { kty: "EC", crv: "P-256", x, y }, CURVE, false, []);
}

async function shared(privateKey: CryptoKey, publicKey: CryptoKey): Promise<CryptoKey> {
  const bits = await crypto.subtle.deriveBits({ name: "ECDH", public: publicKey }, privateKey, 256);
  const secret = await crypto.subtle.importKey("raw", bits, "HKDF", false, ["deriveKey"]);
  const kdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info: INFO };
  return await crypto.subtle.deriveKey(kdf, secret, { name: "AES-GCM", length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
}

function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
