/**
 * The part of the HTTP client about passkeys: each ceremony asks the server what to ask, the browser for the answer, and the server what it is worth.
 * Proven by `tests/browser/passkey_test.ts`.
 */
import type { PasskeyList, PasskeyOffer } from "../edge/api.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Calls } from "./policy_api.ts";

/** Every call rejects with `ApiFailure`. */
export interface PasskeyApi {
  /** Whether one may sign in by a passkey at this address. */
  passkeyOffer(): Promise<PasskeyOffer>;
  passkeySignIn(): Promise<void>;
  /** Proves again who is signed in. */
  passkeyConfirm(): Promise<void>;
  passkeys(): Promise<PasskeyList>;
  addPasskey(name: string): Promise<void>;
  renamePasskey(id: string, name: string): Promise<void>;
  /** `isLast`: the person knows that it is the last way in. */
  removePasskey(id: string, isLast: boolean): Promise<void>;
}

/** Builds the part. */
export function passkeyApi({ call }: Pick<Calls, "call">, { create, get }: Authenticator): PasskeyApi {
  const id = encodeURIComponent;
  const prove = async (path: string): Promise<void> => {
    const response = await get(await call("POST", `${path}/options`));
    await call("POST", path, { response });
  };
  return {
    passkeyOffer: () => call("GET", "/passkeys/offer"),
    passkeySignIn: () => prove("/session/passkey"),
    passkeyConfirm: () => prove("/session/confirm/passkey"),
    passkeys: () => call("GET", "/passkeys"),
    async addPasskey(name) {
      const response = await create(await call("POST", "/passkeys/options"));
      await call("POST", "/passkeys", { name, response });
    },
    renamePasskey: (passkey, name) => call("PATCH", `/passkeys/${id(passkey)}`, { name }),
    removePasskey: (passkey, isLast) =>
      call("DELETE", `/passkeys/${id(passkey)}${isLast ? "?last=accepted" : ""}`),
  };
}
