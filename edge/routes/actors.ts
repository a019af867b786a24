/**
 * The supervision tree, and starting an actor again. Proven by `edge/conversations_test.ts`.
 */
import { Hono } from "hono";
import { kindOf } from "../../actors/protocol.ts";
import { canSee } from "../../store/queries/access.ts";
import { conversationsById } from "../../store/queries/conversations.ts";
import { leaseState } from "../../store/queries/health.ts";
import { actorTree, conversationOf } from "../actor_tree.ts";
import type { ActorList, CommandAccepted } from "../api.ts";
import { requireAct, requireRole, viewerOf } from "../auth.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { send } from "../outbox.ts";
import { limitWrites } from "../rate.ts";

/** `/api/actors`. A ref's slash is sent as `%2F`. */
export function actorRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const viewer = viewerOf(c);
    const { actors, source } = await actorTree(edge);
    const lease = await leaseState(edge.db);
    const seen = actors.filter((placed) =>
      placed.channelId === undefined || canSee(viewer, placed.channelId)
    );
    const { holder, expiresAt } = lease;
    const supervisor = {
      away: !lease.fresh,
      ...(holder === undefined ? {} : { holder }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    return c.json({ actors: seen.map((placed) => placed.actor), source, supervisor } satisfies ActorList);
  });

  app.post("/:ref/restart", async (c) => {
    const ref = c.req.param("ref");
    const kind = kindOf(ref);
    if (kind === undefined || kind === "supervisor" || kind === "edge") {
      throw new ApiError("not_found", "There is no such actor");
    }
    const conversation = conversationOf(ref);
    if (conversation === undefined) {
      requireRole(c, "owner");
      // Another process's rows know only what was alive once, so there the supervisor has the last word.
      if (edge.actors && !edge.actors().some((actor) => actor.ref === ref)) {
        throw new ApiError("not_found", "This actor is not configured here");
      }
    } else {
      const row = (await conversationsById(edge.db, [conversation]))[0];
      requireAct(c, row?.channel_id ?? null, "conversation");
      if (!row) throw new ApiError("not_found", "There is no such conversation");
    }
    await limitWrites(c, edge);
    const { viewer, userName } = c.get("session");
    const by = { kind: "web", id: viewer.userId, name: userName };
    const command = await send(edge, { to: "supervisor", type: "actor.restart", payload: { ref, by } });
    return c.json({ command } satisfies CommandAccepted, 202);
  });

  return app;
}
