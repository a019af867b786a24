/**
 * Signing in by a passkey, and proving by one that it is still the same person. Counted against the same limit as tokens.
 * Proven by `edge/passkeys_test.ts`.
 */
import { Hono } from "hono";
import { hasAnyPasskey, usePasskey } from "../../store/edge/passkeys.ts";
import { confirmSession } from "../../store/edge/sessions.ts";
import { PasskeyConfirmation, type PasskeyOffer, PasskeySignIn } from "../api.ts";
import { requireSession } from "../auth.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { enter } from "../enter.ts";
import { ApiError, refuseCommit } from "../errors.ts";
import { peerOf } from "../peer.ts";
import { limit, SIGN_IN } from "../rate.ts";
import { relyingParty, requireParty } from "../relying_party.ts";
import { given } from "../views.ts";
import { proofOptions, verifyProof } from "../webauthn.ts";

const REFUSED = "This passkey is not known here, or its answer is wrong, used or too old";

/** `GET /api/passkeys/offer`, `POST /api/session/passkey` and `POST /api/session/confirm/passkey`, each with its `/options`. */
export function passkeySessionRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/passkeys/offer", async (c) => {
    const found = relyingParty(c, edge.config);
    const why = "why" in found ? found.why : undefined;
    return c.json(
      {
        offered: why === undefined,
        ...given("why", why),
        known: await hasAnyPasskey(edge.db),
      } satisfies PasskeyOffer,
    );
  });

  app.post("/session/passkey/options", async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    return c.json(await proofOptions(edge, requireParty(c, edge.config)));
  });

  app.post("/session/passkey", async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    const party = requireParty(c, edge.config);
    const { response, device } = await readBody(c, PasskeySignIn);
    const proven = await verifyProof(edge, party, response);
    if (!proven) throw new ApiError("unauthorized", REFUSED);
    const use = usePasskey(proven.passkey, proven, edge.clock.now());
    await enter(c, edge, { userId: proven.passkey.userId, use, device, refusal: REFUSED });
    return c.json({ ok: true }, 201);
  });

  app.post("/session/confirm/passkey/options", requireSession(edge), async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    const { userId } = c.get("session").viewer;
    return c.json(await proofOptions(edge, requireParty(c, edge.config), userId));
  });

  app.post("/session/confirm/passkey", requireSession(edge), async (c) => {
    await limit(edge, `sign_in/${peerOf(c, edge)}`, SIGN_IN);
    const party = requireParty(c, edge.config);
    const { response } = await readBody(c, PasskeyConfirmation);
    const session = c.get("session");
    const proven = await verifyProof(edge, party, response, session.viewer.userId);
    if (!proven) throw new ApiError("forbidden", REFUSED);
    const now = edge.clock.now();
    const statements = [...usePasskey(proven.passkey, proven, now), ...confirmSession(session, now)];
    const committed = await edge.committer.commit({ id: edge.newId(), statements });
    if (!committed.ok && committed.error.code !== "guard_failed") refuseCommit(committed.error);
    if (!committed.ok) throw new ApiError("forbidden", REFUSED);
    return c.body(null, 204);
  });

  return app;
}
