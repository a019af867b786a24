/**
 * The browser's passkeys, in the JSON forms of WebAuthn Level 3 that the server speaks: the browser itself translates. The page's only way to them;
 * failures come as sentences for people. Proven by `tests/browser/passkey_test.ts`.
 */
import { ApiFailure } from "./api_failure.ts";
import { strings } from "./strings.ts";

const words = strings.passkeys;

/** What the stores may ask of passkeys. Both ceremonies reject with `ApiFailure`. */
export interface Authenticator {
  readonly isSupported: boolean;
  /** Makes a passkey. */
  create(options: PublicKeyCredentialCreationOptionsJSON): Promise<unknown>;
  /** Proves one. */
  get(options: PublicKeyCredentialRequestOptionsJSON): Promise<unknown>;
}

/** The browser's own. */
export function browserAuthenticator(): Authenticator {
  const isSupported = typeof PublicKeyCredential === "function" &&
    "parseCreationOptionsFromJSON" in PublicKeyCredential;
  return {
    isSupported,
    create: (options) =>
      answerOf(() =>
        navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      ),
    get: (options) =>
      answerOf(() =>
        navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
      ),
  };
}

async function answerOf(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    // A passkey of `excludeCredentials` is on this device already.
    if (error instanceof DOMException && error.name === "InvalidStateError") {
      throw new ApiFailure(0, "passkey", words.isHere);
    }
  }
  throw new ApiFailure(0, "passkey", words.notGiven);
}
