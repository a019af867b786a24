/** People over HTTP, in memory: the same refusals as the product's, for what a screen must show. */
import { Hono } from "hono";
import { UserInput, type UserView } from "../../../edge/api.ts";
import { sampleUsers } from "./samples.ts";

/** `/api/users`. */
export function fakeUserRoutes(url: () => string): Hono {
  const users = new Map(sampleUsers().map((user) => [user.id, user]));
  const app = new Hono();
  app.get("/", (c) => c.json({ users: [...users.values()] }));
  app.post("/", async (c) => {
    const user = { id: `u${users.size + 1}`, ...UserInput.parse(await c.req.json()) };
    const isTaken = [...users.values()].some(({ zulipUserId }) =>
      zulipUserId !== null && zulipUserId === user.zulipUserId
    );
    if (isTaken) {
      return c.json(
        { error: { code: "conflict", message: "This Zulip user is linked to somebody else" } },
        409,
      );
    }
    users.set(user.id, user);
    return c.json(user satisfies UserView, 201);
  });
  app.put("/:id", async (c) => {
    const user = { id: c.req.param("id"), ...UserInput.parse(await c.req.json()) };
    users.set(user.id, user);
    return c.json(user satisfies UserView);
  });
  app.delete("/:id", (c) => {
    if (users.get(c.req.param("id"))?.role === "owner") {
      return c.json({ error: { code: "conflict", message: "Somebody must remain the owner" } }, 409);
    }
    users.delete(c.req.param("id"));
    return c.body(null, 204);
  });
  app.post(
    "/:id/link",
    (c) => c.json({ url: `${url()}/#token=for-${c.req.param("id")}`, expiresAt: Date.now() + 900_000 }, 201),
  );
  return app;
}
