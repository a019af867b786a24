/**
 * A person's own passkeys: make, list, rename, remove. A passkey outlasts every session, so making and removing one needs a recent proof, and the
 * last way in is not removed by accident. Proven by `edge/passkeys_test.ts`.
 */
import { type Context, Hono } from "hono";
import * as z from "zod";
import {
  insertPasskey,
  listPasskeys,
  MAX_PASSKEYS,
  type Passkey,
  removePasskey,
  renamePasskey,
} from "../../store/edge/passkeys.ts";
import { type PasskeyList, PasskeyRegistration, PasskeyRename, type PasskeyView } from "../api.ts";
import { viewerOf } from "../auth.ts";
import { readBody, readQuery } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, refuseCommit } from "../errors.ts";
import { requireFresh, requireRecent } from "../fresh.ts";
import { limitWrites } from "../rate.ts";
import { requireParty } from "../relying_party.ts";
import { registrationOptions, verifyRegistration } from "../webauthn.ts";

const RemoveQuery = z.strictObject({ last: z.literal("accepted").optional() });

/** `/api/passkeys`. */
export function passkeyRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const passkeys = (await listPasskeys(edge.db, viewerOf(c).userId)).map(view);
    return c.json({ passkeys, lastWayIn: !mayLoseAll(c, edge) } satisfies PasskeyList);
  });

  app.post("/options", async (c) => {
    await limitWrites(c, edge);
    requireRecent(c, edge);
    const { viewer, userName } = c.get("session");
    const party = requireParty(c, edge.config);
    return c.json(await registrationOptions(edge, party, { userId: viewer.userId, userName }));
  });

  app.post("/", async (c) => {
    await limitWrites(c, edge);
    requireRecent(c, edge);
    const party = requireParty(c, edge.config);
    const registration = await readBody(c, PasskeyRegistration);
    const passkey = await verifyRegistration(edge, party, viewerOf(c).userId, registration);
    if (!passkey) throw new ApiError("bad_request", "This is no answer to a question of ours; try again");
    const statements = insertPasskey(passkey, edge.clock.now());
    const committed = await edge.committer.commit({ id: edge.newId(), statements });
    if (!committed.ok && committed.error.code !== "guard_failed") refuseCommit(committed.error);
    if (!committed.ok) {
      throw new ApiError(
        "conflict",
        `This passkey is known already, or it is one more than ${MAX_PASSKEYS}`,
      );
    }
    return c.json({ id: passkey.id }, 201);
  });

  app.patch("/:id", async (c) => {
    await limitWrites(c, edge);
    const { name } = await readBody(c, PasskeyRename);
    const [renamed] = await edge.db.batch([renamePasskey(viewerOf(c).userId, c.req.param("id"), name)]);
    if (renamed?.rowsAffected !== 1) throw new ApiError("not_found", "There is no such passkey");
    return c.body(null, 204);
  });

  app.delete("/:id", async (c) => {
    await limitWrites(c, edge);
    requireFresh(c, edge);
    const id = c.req.param("id");
    const { userId } = viewerOf(c);
    const mayBeLast = mayLoseAll(c, edge) || readQuery(c, RemoveQuery).last === "accepted";
    const [removed] = await edge.db.batch([removePasskey(userId, id, mayBeLast)]);
    if (removed?.rowsAffected === 1) return c.body(null, 204);
    const isTheirs = (await listPasskeys(edge.db, userId)).some((passkey) => passkey.id === id);
    if (!isTheirs) throw new ApiError("not_found", "There is no such passkey");
    throw new ApiError("conflict", "This is your last passkey: without it you need a link to sign in again");
  });

  return app;
}

/** Whether a person can sign in by themselves without any passkey: the owner, by the `OWNER_TOKEN`. */
function mayLoseAll(c: Context<EdgeEnv>, edge: Edge): boolean {
  return viewerOf(c).role === "owner" && edge.config.ownerToken !== undefined;
}

function view({ id, name, createdAt, usedAt, isMultiDevice, isBackedUp }: Passkey): PasskeyView {
  return { id, name, createdAt, usedAt, synced: isMultiDevice || isBackedUp };
}
