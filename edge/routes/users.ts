/**
 * People and what they may do: the owner's alone. Whoever is removed or loses a role is out at their next request, and at the latest with the
 * next heartbeat of an open stream. Proven by `edge/users_test.ts`.
 */
import { type Context, Hono } from "hono";
import { putUser, removeUser } from "../../store/edge/users.ts";
import type { Statement } from "../../store/db.ts";
import { listPeople, type Person } from "../../store/queries/people.ts";
import { UserInput, type UserList, type UserView } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, refuseCommit } from "../errors.ts";
import { requireFresh } from "../fresh.ts";
import { ownOrigin } from "../origin.ts";
import { announcePeople } from "../people.ts";
import { limitWrites } from "../rate.ts";
import { signInLink } from "../sign_in_link.ts";

/** `/api/users`. */
export function userRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();
  app.use(async (c, next) => {
    requireRole(c, "owner");
    if (c.req.method !== "GET") {
      await limitWrites(c, edge);
      requireFresh(c, edge);
    }
    await next();
  });

  app.get("/", async (c) => {
    return c.json({ users: (await listPeople(edge.db)).map(userView) } satisfies UserList);
  });

  app.post("/", async (c) => await put(c, edge, edge.newId(), 201));

  app.put("/:id", async (c) => await put(c, edge, (await find(edge, c.req.param("id"))).id, 200));

  app.delete("/:id", async (c) => {
    await change(edge, removeUser((await find(edge, c.req.param("id"))).id));
    return c.body(null, 204);
  });

  app.post("/:id/link", async (c) => {
    const { id } = await find(edge, c.req.param("id"));
    return c.json(await signInLink(edge, id, ownOrigin(c, edge.config)), 201);
  });

  return app;
}

async function put(c: Context<EdgeEnv>, edge: Edge, id: string, status: 200 | 201): Promise<Response> {
  const user = await readBody(c, UserInput);
  await change(edge, putUser({ id, ...user }, edge.clock.now()));
  return c.json(userView(await find(edge, id)), status);
}

async function change(edge: Edge, statements: readonly Statement[]): Promise<void> {
  const committed = await edge.committer.commit({ id: edge.newId(), statements });
  if (!committed.ok && committed.error.code === "guard_failed") {
    throw new ApiError("conflict", "Somebody must remain the owner");
  }
  if (!committed.ok && committed.error.code === "conflict") {
    throw new ApiError("conflict", "This Zulip user is linked to somebody else");
  }
  if (!committed.ok) refuseCommit(committed.error);
  await announcePeople(edge);
}

async function find(edge: Edge, id: string): Promise<Person> {
  const person = (await listPeople(edge.db)).find((each) => each.id === id);
  if (!person) throw new ApiError("not_found", "There is no such person");
  return person;
}

function userView({ id, name, role, zulipUserId, channels }: Person): UserView {
  return {
    id,
    name,
    role,
    zulipUserId,
    channels: [...channels].map(([channel, access]) => ({ id: channel, access })),
  };
}
