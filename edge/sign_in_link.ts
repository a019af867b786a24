/**
 * The sign-in link: a one-time token in a URL's fragment, which never reaches a server or its log; the page sends it on a tap.
 * Proven by `edge/session_test.ts`.
 */
import { insertLoginToken, LOGIN_TOKEN_MS } from "../store/edge/login_tokens.ts";
import type { Statement } from "../store/db.ts";
import type { DeviceLink } from "./api.ts";
import type { Edge } from "./deps.ts";
import { refuseCommit } from "./errors.ts";
import { hashOf, newSecret } from "./secrets.ts";

/** Makes a token for the user, together with whatever else belongs to it, and gives the link. `origin` default: `PUBLIC_URL`, else `http://localhost:PORT`. */
export async function signInLink(
  edge: Edge,
  userId: string,
  { origin, extra = [] }: { readonly origin?: string | undefined; readonly extra?: readonly Statement[] } =
    {},
): Promise<DeviceLink> {
  const token = newSecret(edge.randomBytes);
  const now = edge.clock.now();
  const statements = [...insertLoginToken(hashOf(token), userId, now), ...extra];
  const committed = await edge.committer.commit({ id: edge.newId(), statements });
  if (!committed.ok) refuseCommit(committed.error);
  const { publicUrl, port } = edge.config;
  const base = publicUrl === undefined ? origin ?? `http://localhost:${port}` : new URL(publicUrl).origin;
  return { url: `${base}/#token=${token}`, expiresAt: now + LOGIN_TOKEN_MS };
}
