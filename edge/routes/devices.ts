/**
 * The signed-in devices of a person: list, sign out, and a link to sign in on another one. Proven by `edge/session_test.ts`.
 */
import { Hono } from "hono";
import { listDevices, revokeDevice } from "../../store/edge/sessions.ts";
import type { DeviceList } from "../api.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { requireFresh } from "../fresh.ts";
import { announcePeople } from "../people.ts";
import { ownOrigin } from "../origin.ts";
import { limitWrites } from "../rate.ts";
import { signInLink } from "../sign_in_link.ts";

/** `/api/devices`. */
export function deviceRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    const { viewer, deviceId } = c.get("session");
    const rows = await listDevices(edge.db, viewer.userId, edge.clock.now());
    const devices = rows.map((row) => ({
      id: row.id,
      name: row.name,
      createdAt: row.created_at,
      seenAt: row.seen_at,
      current: row.id === deviceId,
    }));
    return c.json({ devices } satisfies DeviceList);
  });

  app.post("/link", async (c) => {
    await limitWrites(c, edge);
    requireFresh(c, edge);
    const origin = ownOrigin(c, edge.config);
    return c.json(await signInLink(edge, c.get("session").viewer.userId, { origin }), 201);
  });

  app.delete("/:id", async (c) => {
    const { viewer } = c.get("session");
    const statements = revokeDevice(viewer.userId, c.req.param("id"), edge.clock.now());
    const revoked = (await edge.db.batch(statements)).at(-1);
    if (revoked?.rowsAffected !== 1) throw new ApiError("not_found", "There is no such device");
    await announcePeople(edge);
    return c.body(null, 204);
  });

  return app;
}
