/**
 * For which name passkeys are made here. A passkey belongs to the host name of one origin: `PUBLIC_URL`, else `http://localhost:PORT`. What the
 * request says of itself is only compared with it, so that a page on another port of this machine gets nothing. Proven by `edge/passkeys_test.ts`.
 */
import type { Context } from "hono";
import type { EdgeConfig, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { ownOrigin } from "./origin.ts";

/** Who asks for passkeys, in the words of WebAuthn. */
export interface RelyingParty {
  /** The host name. */
  readonly id: string;
  readonly origin: string;
}

/** The relying party at which this request may use passkeys, or why there is none, for people. */
export function relyingParty(
  c: Context<EdgeEnv>,
  config: EdgeConfig,
): { readonly party: RelyingParty } | { readonly why: string } {
  const own = ownOrigin(c, config);
  const fixed = fixedOrigin(config);
  if (own !== undefined && own === fixed && !isAddress(new URL(own).hostname)) {
    return { party: { id: new URL(own).hostname, origin: own } };
  }
  const instead = fixed === undefined || isAddress(new URL(fixed).hostname)
    ? "the server needs a PUBLIC_URL with a host name"
    : `open ${fixed} instead`;
  const isByAddress = own !== undefined && isAddress(new URL(own).hostname);
  return {
    why: isByAddress
      ? `Passkeys belong to a host name, and this page was opened by its IP address; ${instead}.`
      : `Passkeys belong to one address of this server, and this is another one; ${instead}.`,
  };
}

/** `relyingParty`, or throws `conflict` with the reason. */
export function requireParty(c: Context<EdgeEnv>, config: EdgeConfig): RelyingParty {
  const found = relyingParty(c, config);
  if ("why" in found) throw new ApiError("conflict", found.why);
  return found.party;
}

function fixedOrigin({ publicUrl, port }: EdgeConfig): string | undefined {
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  return port === 0 ? undefined : new URL(`http://localhost:${port}`).origin;
}

/** Whether a URL's host is an IP address; the parser has already brought every spelling of one to these two. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}
