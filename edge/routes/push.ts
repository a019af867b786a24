/**
 * Push messages for the signed-in device: what it has, on, off, a test, and that a notification was opened. The device is always the session's own.
 * Nothing is sent from here. Proven by `edge/push_test.ts`.
 */
import { type Context, Hono } from "hono";
import { isPushEndpoint } from "../../lib/push_endpoint.ts";
import {
  deleteSubscription,
  findSubscription,
  putSubscription,
  type SubscriptionState,
} from "../../store/edge/push_subscriptions.ts";
import { PushOpened, PushOutcome, type PushState, PushSubscriptionInput } from "../api.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { send } from "../outbox.ts";
import { announcePeople } from "../people.ts";
import { limit, limitWrites, PUSH_TESTS } from "../rate.ts";
import { given } from "../views.ts";

/** `/api/push`. */
export function pushRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => c.json(await stateOf(c, edge)));

  app.put("/subscription", async (c) => {
    await limitWrites(c, edge);
    const { endpoint, keys } = await readBody(c, PushSubscriptionInput);
    if (edge.config.pushKey === undefined) {
      throw new ApiError("conflict", "This server sends no push messages");
    }
    if (!isPushEndpoint(endpoint, edge.config.pushTestOrigin)) {
      throw new ApiError("bad_request", "endpoint: is no address of a known push service");
    }
    const { deviceId } = c.get("session");
    await edge.db.batch(
      putSubscription({ id: edge.newId(), deviceId, endpoint, ...keys }, edge.clock.now()),
    );
    await announcePeople(edge);
    return c.json(await stateOf(c, edge));
  });

  app.delete("/subscription", async (c) => {
    await edge.db.batch(deleteSubscription(c.get("session").deviceId));
    await announcePeople(edge);
    return c.body(null, 204);
  });

  app.post("/test", async (c) => {
    const { viewer, deviceId } = c.get("session");
    await limit(edge, `push_test/${viewer.userId}`, PUSH_TESTS);
    const found = await findSubscription(edge.db, deviceId);
    if (!found || found.failedAt !== null) {
      throw new ApiError("conflict", "This device takes no push messages; turn them on first");
    }
    await send(edge, { to: "push", type: "push.test", payload: { subscriptionId: found.id } });
    return c.body(null, 204);
  });

  app.post("/clicked", async (c) => {
    await limitWrites(c, edge);
    const { itemId } = await readBody(c, PushOpened);
    const { deviceId } = c.get("session");
    if (await findSubscription(edge.db, deviceId)) {
      const dedupe = `push.clicked/${deviceId}/${itemId}`;
      await send(edge, { to: "push", type: "push.clicked", payload: { itemId, deviceId }, dedupe });
    }
    return c.body(null, 204);
  });

  return app;
}

async function stateOf(c: Context<EdgeEnv>, edge: Edge): Promise<PushState> {
  const found = await findSubscription(edge.db, c.get("session").deviceId);
  return {
    ...given("publicKey", edge.config.pushKey),
    ...given("subscription", found && subscriptionView(found)),
  };
}

function subscriptionView(found: SubscriptionState): NonNullable<PushState["subscription"]> {
  const { endpoint, createdAt, failedAt, lastAt, lastState, testAt, testState } = found;
  return {
    endpoint,
    state: failedAt === null ? "on" : "blocked",
    since: failedAt ?? createdAt,
    ...given("last", PushOutcome.safeParse({ at: lastAt, state: lastState }).data),
    ...given("test", PushOutcome.safeParse({ at: testAt, state: testState }).data),
  };
}
