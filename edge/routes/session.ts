/**
 * Signing in and out, and who one is. A one-time token works once, whoever is faster; the `OWNER_TOKEN` works again and again, but only a few times
 * a minute. Proven by `edge/session_test.ts`.
 */
import { type Context, Hono } from "hono";
import { findLoginToken, useLoginToken } from "../../store/edge/login_tokens.ts";
import { confirmSession, revokeDevice } from "../../store/edge/sessions.ts";
import { ensureOwner } from "../../store/edge/users.ts";
import type { Statement } from "../../store/db.ts";
import { Confirmation, type Me, SignIn } from "../api.ts";
import { clearSessionCookie, requireSession } from "../auth.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { enter } from "../enter.ts";
import { ApiError, refuseCommit } from "../errors.ts";
import { announcePeople } from "../people.ts";
import { peerOf } from "../peer.ts";
import { limit, SIGN_IN } from "../rate.ts";
import { relyingParty } from "../relying_party.ts";
import { hashOf, isSameSecret } from "../secrets.ts";

const REFUSED = "This sign-in token is wrong, used or too old";

/** `POST` and `DELETE /api/session`, `GET /api/me`. */
export function sessionRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.post("/session", async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    const { token, device } = await readBody(c, SignIn);
    const found = await whoseToken(edge, token);
    if (!found) throw new ApiError("unauthorized", REFUSED);
    await enter(c, edge, { ...found, device, refusal: REFUSED });
    return c.json({ ok: true }, 201);
  });

  app.post("/session/confirm", requireSession(edge), async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    const { token } = await readBody(c, Confirmation);
    const session = c.get("session");
    const found = await whoseToken(edge, token);
    if (found?.userId !== session.viewer.userId) {
      throw new ApiError("forbidden", "This token is wrong, used, too old or somebody else's");
    }
    const statements = [...found.use, ...confirmSession(session, edge.clock.now())];
    const committed = await edge.committer.commit({ id: edge.newId(), statements });
    if (!committed.ok && committed.error.code !== "guard_failed") refuseCommit(committed.error);
    if (!committed.ok) throw new ApiError("forbidden", "This token is used");
    return c.body(null, 204);
  });

  app.delete("/session", requireSession(edge), async (c) => {
    const { viewer, deviceId } = c.get("session");
    await edge.db.batch(revokeDevice(viewer.userId, deviceId, edge.clock.now()));
    await announcePeople(edge);
    clearSessionCookie(c, edge);
    return c.body(null, 204);
  });

  app.get("/me", requireSession(edge), (c) => c.json(me(c, edge)));

  return app;
}

interface TokenOwner {
  readonly userId: string;
  /** What must be in the session's batch. */
  readonly use: readonly Statement[];
}

async function whoseToken(edge: Edge, token: string): Promise<TokenOwner | undefined> {
  const now = edge.clock.now();
  const { ownerToken } = edge.config;
  if (ownerToken !== undefined && isSameSecret(token, ownerToken)) {
    return { userId: (await ensureOwner(edge.db, now)).id, use: [] };
  }
  const hash = hashOf(token);
  const userId = await findLoginToken(edge.db, hash, now);
  return userId === undefined ? undefined : { userId, use: useLoginToken(hash, now) };
}

function me(c: Context<EdgeEnv>, edge: Edge): Me {
  const session = c.get("session");
  return {
    user: { id: session.viewer.userId, name: session.userName, role: session.viewer.role },
    device: { id: session.deviceId, name: session.deviceName },
    csrf: c.get("csrf"),
    expiresAt: session.expiresAt,
    passkey: session.hasPasskey && "party" in relyingParty(c, edge.config),
    version: edge.version,
    ...(edge.config.realm === undefined ? {} : { realm: edge.config.realm }),
  };
}
