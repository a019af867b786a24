/**
 * A device that holds one passkey and the browser in front of it, made of WebCrypto: real ES256 signatures over real authenticator data, without an
 * attestation. Everything that an honest pair would not do can be asked of it.
 */
import { type Cbor, cbor, joined } from "./cbor.ts";

/** What a dishonest or broken pair does differently. */
export interface Lies {
  /** The page's origin, as the browser states it. */
  readonly origin?: string;
  /** The name for which the authenticator answers. */
  readonly rpId?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly credentialId?: string;
  readonly type?: string;
}

interface Creation {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface Request {
  readonly challenge: string;
  readonly rpId: string;
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
/** May be copied, and is. */
const BACKED_UP = 0x18;
const HAS_CREDENTIAL = 0x40;

/** See the file's comment. */
export class SoftwareAuthenticator {
  #counter = 0;
  #userHandle = "";

  private constructor(readonly origin: string, readonly id: string, readonly keys: CryptoKeyPair) {}

  /** A fresh device in a browser on a page of `origin`. */
  static async create(origin: string): Promise<SoftwareAuthenticator> {
    const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
      "sign",
      "verify",
    ]);
    return new SoftwareAuthenticator(origin, base64url(crypto.getRandomValues(new Uint8Array(16))), keys);
  }

  /** `navigator.credentials.create`, as the JSON that a page sends on. */
  async register(options: Creation, lies: Lies = {}) {
    this.#userHandle = options.user.id;
    const { x = "", y = "" } = await crypto.subtle.exportKey("jwk", this.keys.publicKey);
    const key = cbor(
      new Map<number, number | Uint8Array>([[1, 2], [3, -7], [-1, 1], [-2, bytes(x)], [-3, bytes(y)]]),
    );
    const id = bytes(this.id);
    const credential = joined([new Uint8Array(16), new Uint8Array([0, id.length]), id, key]);
    const data = await this.#data(options.rp.id, HAS_CREDENTIAL, lies);
    const attestation = cbor(
      new Map<string, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map<string, Cbor>()],
        ["authData", joined([data, credential])],
      ]),
    );
    return {
      ...this.#credential(lies),
      response: {
        clientDataJSON: this.#client("webauthn.create", options.challenge, lies),
        attestationObject: base64url(attestation),
        transports: ["internal"],
      },
    };
  }

  /** `navigator.credentials.get`, as the JSON that a page sends on. */
  async prove(options: Request, lies: Lies = {}) {
    this.#counter += 1;
    const data = await this.#data(options.rpId, 0, lies);
    const client = this.#client("webauthn.get", options.challenge, lies);
    const clientHash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(client)));
    const signature = await crypto.subtle.sign(
      { name: "ECDSA", hash: "SHA-256" },
      this.keys.privateKey,
      joined([data, clientHash]),
    );
    const userHandle = lies.userHandle === undefined ? this.#userHandle : lies.userHandle;
    return {
      ...this.#credential(lies),
      response: {
        clientDataJSON: client,
        authenticatorData: base64url(data),
        signature: base64url(der(new Uint8Array(signature))),
        userHandle,
      },
    };
  }

  #credential({ credentialId = this.id }: Lies) {
    return { id: credentialId, rawId: credentialId, type: "public-key", clientExtensionResults: {} };
  }

  #client(type: string, challenge: string, lies: Lies): string {
    const data = {
      type: lies.type ?? type,
      challenge,
      origin: lies.origin ?? this.origin,
      crossOrigin: false,
    };
    return base64url(new TextEncoder().encode(JSON.stringify(data)));
  }

  async #data(rpId: string, flags: number, lies: Lies): Promise<Uint8Array<ArrayBuffer>> {
    const name = new TextEncoder().encode(lies.rpId ?? rpId);
    const counter = new DataView(new ArrayBuffer(4));
    counter.setUint32(0, lies.counter ?? this.#counter);
    const verified = lies.isVerified === false ? 0 : VERIFIED;
    return joined([
      new Uint8Array(await crypto.subtle.digest("SHA-256", name)),
      new Uint8Array([PRESENT | BACKED_UP | verified | flags]),
      new Uint8Array(counter.buffer),
    ]);
  }
}

/** A signature as WebAuthn carries it: both numbers as a DER sequence, positive and without needless zeros. */
function der(signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = signature.length / 2;
  const numbers = [signature.slice(0, half), signature.slice(half)].map((number) => {
    const start = number.findIndex((byte) => byte !== 0);
    const short = number.slice(Math.max(start, 0));
    const positive = (short[0] ?? 0) >= 0x80 ? joined([new Uint8Array([0]), short]) : short;
    return joined([new Uint8Array([2, positive.length]), positive]);
  });
  const body = joined(numbers);
  return joined([new Uint8Array([0x30, body.length]), body]);
}

function base64url(data: Uint8Array): string {
  return data.toBase64({ alphabet: "base64url", omitPadding: true });
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
