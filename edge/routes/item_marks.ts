/**
 * What people do with an item without deciding it: look at it, put it off (each for themselves), ask somebody else. The last two go to approval as
 * well, which keeps the log and tells whoever was asked. Proven by `edge/inbox_test.ts`.
 */
import { type Context, Hono } from "hono";
import { checkSend } from "../../actors/protocol.ts";
import type { ItemMarked } from "../../actors/protocol/marks.ts";
import type { Statement } from "../../store/db.ts";
import { markDelegated, markLater, markSeen } from "../../store/edge/item_marks.ts";
import { insertMessage } from "../../store/mail.ts";
import { canAct } from "../../store/queries/access.ts";
import { listPeople } from "../../store/queries/people.ts";
import { type DeciderList, DelegateRequest, LaterRequest } from "../api.ts";
import { requireAct, viewerOf } from "../auth.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, refuse, refuseCommit } from "../errors.ts";
import { namedItem, ownView } from "../found_item.ts";
import { limitWrites } from "../rate.ts";

const MAX_LATER_MS = 30 * 86_400_000;

/** The part of `/api/inbox/:id` that decides nothing. */
export function itemMarkRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.post("/:id/later", async (c) => {
    const { item, channelId } = await namedItem(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { until } = await readBody(c, LaterRequest);
    const now = edge.clock.now();
    if (until !== null && (until <= now || until > now + MAX_LATER_MS)) {
      throw new ApiError("bad_request", "until: must lie within the next 30 days");
    }
    const { userId } = viewerOf(c);
    const statements = markLater(item.id, item.version, { userId, until }, now);
    return await mark(c, edge, { mark: "later", until: until ?? now }, statements);
  });

  app.get("/:id/deciders", async (c) => {
    const { channelId } = await namedItem(c, edge);
    requireAct(c, channelId, "item");
    const own = viewerOf(c).userId;
    const people = (await listPeople(edge.db))
      .filter((each) => each.id !== own && canAct({ ...each, userId: each.id }, channelId))
      .map(({ id, name }) => ({ id, name }));
    return c.json({ people } satisfies DeciderList);
  });

  app.post("/:id/delegate", async (c) => {
    const { item, channelId } = await namedItem(c, edge);
    requireAct(c, channelId, "item");
    await limitWrites(c, edge);
    const { userId } = await readBody(c, DelegateRequest);
    const person = (await listPeople(edge.db)).find((each) => each.id === userId);
    if (userId !== null && !(person && canAct({ ...person, userId }, channelId))) {
      throw new ApiError("bad_request", "userId: names nobody who could decide this");
    }
    const statements = markDelegated(item.id, item.version, userId, edge.clock.now());
    return await mark(c, edge, { mark: "delegated", userId }, statements);
  });

  app.post("/:id/seen", async (c) => {
    const { item, channelId } = await namedItem(c, edge);
    // Only who could have decided has seen it in the sense of the inbox.
    if (canAct(viewerOf(c), channelId) && item.seenAt === undefined) {
      const statements = markSeen(item.id, item.version, edge.clock.now());
      const committed = await edge.committer.commit({ id: edge.newId(), statements });
      if (!committed.ok) refuseCommit(committed.error);
      edge.hub.notify();
    }
    return c.body(null, 204);
  });

  return app;
}

/** Commits a mark together with what approval is told of it. */
async function mark(
  c: Context<EdgeEnv>,
  edge: Edge,
  marked: ItemMarked["marked"],
  statements: readonly Statement[],
): Promise<Response> {
  const { viewer, userName, deviceId } = c.get("session");
  const by = { userId: viewer.userId, role: viewer.role, name: userName, surface: "web", device: deviceId };
  const itemId = c.req.param("id") ?? "";
  const checked = checkSend("edge", {
    to: "approval",
    type: "item.marked",
    payload: { itemId, marked, by },
  });
  if (!checked.ok) refuse(checked.error);
  const { lane, payload } = checked.value;
  const id = edge.newId();
  const message = {
    id,
    to: "approval",
    from: "edge",
    type: "item.marked",
    lane,
    payload,
    at: edge.clock.now(),
  };
  const committed = await edge.committer.commit({
    id,
    statements: [...statements, ...insertMessage(message)],
  });
  if (!committed.ok && committed.error.code === "guard_failed") {
    throw new ApiError("conflict", "The item waits no more");
  }
  if (!committed.ok) refuseCommit(committed.error);
  edge.doorbell(["approval"]);
  edge.hub.notify();
  return c.json(ownView(c, await namedItem(c, edge)));
}
