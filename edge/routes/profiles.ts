/**
 * Profiles, and the choice of one for a conversation: read from rows, changed by commands to approval. Changing is the owner's alone. Proven by
 * `edge/profiles_test.ts`.
 */
import { type Context, Hono } from "hono";
import { standingOf } from "../../store/queries/calls.ts";
import { listProfiles, usedProfiles } from "../../store/queries/policy.ts";
import { ProfileChange, ProfileChoice, ProfileGroup, ProfileInput, type ProfileList } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readBody } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { requireFresh } from "../fresh.ts";
import { limitWrites } from "../rate.ts";
import { requireUsableModel } from "../usable_model.ts";
import { profileView } from "../views.ts";

/** `/api/profiles` and `/api/conversations/:id/profile`. */
export function profileRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();
  const mayChange = async (c: Context<EdgeEnv>) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    requireFresh(c, edge);
  };

  app.get("/profiles", async (c) => {
    requireRole(c, "owner", "approver");
    const [rows, used] = await Promise.all([listProfiles(edge.db), usedProfiles(edge.db)]);
    const profiles = rows.map((row) => profileView(row, used.has(row.id)));
    return c.json({ profiles } satisfies ProfileList);
  });

  app.post("/profiles", async (c) => {
    await mayChange(c);
    const profile = await readBody(c, ProfileInput);
    requireUsableModel(edge, profile.model);
    return await change(c, edge, { kind: "profile.create", profile });
  });

  app.patch("/profiles/:id", async (c) => {
    await mayChange(c);
    const changes = await readBody(c, ProfileChange);
    requireUsableModel(edge, changes.model);
    return await change(c, edge, { kind: "profile.update", id: c.req.param("id"), changes });
  });

  app.put("/profiles/:id/group", async (c) => {
    await mayChange(c);
    const { groupId } = await readBody(c, ProfileGroup);
    return await change(c, edge, { kind: "profile.group", profile: c.req.param("id"), groupId });
  });

  app.delete("/profiles/:id", async (c) => {
    await mayChange(c);
    return await change(c, edge, { kind: "profile.delete", id: c.req.param("id") });
  });

  app.put("/conversations/:id/profile", async (c) => {
    await mayChange(c);
    const { profile } = await readBody(c, ProfileChoice);
    const conversation = c.req.param("id");
    const row = await standingOf(edge.db, conversation);
    if (!row) throw new ApiError("not_found", "There is no such conversation");
    const { channel_id: channelId, ...standing } = row;
    return await change(c, edge, {
      kind: "conversation.profile",
      conversation,
      profile,
      standing: { ...standing, channelId },
    });
  });

  return app;
}
