/**
 * People and what they may do: the owner's alone. Whoever is removed or loses a role is out at their next request, and at the latest with the
 * next heartbeat of an open stream. Each change is one commit with the message by which approval puts it on record. Proven by `edge/users_test.ts`.
 */
import { type Context, Hono } from "hono";
import type * as z from "zod";
import { checkSend } from "../../actors/protocol.ts";
import type { PersonChanged } from "../../actors/protocol/people.ts";
import { OWNER_REMAINS, putUser, removeUser, type UserRecord, userStands } from "../../store/edge/users.ts";
import type { Statement } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { listPeople, type Person } from "../../store/queries/people.ts";
import { UserInput, type UserList, type UserView } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError, refuse, refuseCommit } from "../errors.ts";
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

  app.post("/", async (c) => {
    const id = edge.newId();
    const after = toRecord(id, await readBody(c, UserInput));
    await change(c, edge, { change: "user.create", before: null, after });
    return c.json(userView(await find(edge, id)), 201);
  });

  app.put("/:id", async (c) => {
    const before = recordOf(await find(edge, c.req.param("id")));
    const after = toRecord(before.id, await readBody(c, UserInput));
    await change(c, edge, { change: "user.update", before, after });
    return c.json(userView(await find(edge, before.id)));
  });

  app.delete("/:id", async (c) => {
    const before = recordOf(await find(edge, c.req.param("id")));
    await change(c, edge, { change: "user.delete", before, after: null });
    return c.body(null, 204);
  });

  app.post("/:id/link", async (c) => {
    const person = recordOf(await find(edge, c.req.param("id")));
    const extra = logged(c, edge, { change: "user.link", before: person, after: person });
    const link = await signInLink(edge, person.id, { origin: ownOrigin(c, edge.config), extra });
    edge.doorbell(["approval"]);
    return c.json(link, 201);
  });

  return app;
}

/** A change of one person; one of the two is there. */
interface Change {
  readonly change: PersonChanged["change"];
  readonly before: UserRecord | null;
  readonly after: UserRecord | null;
}

/** Commits the change together with its entry for the log, provided that what the entry calls *before* is what stands there. */
async function change(c: Context<EdgeEnv>, edge: Edge, wanted: Change): Promise<void> {
  const { before, after } = wanted;
  const committed = await edge.committer.commit({
    id: edge.newId(),
    statements: [
      ...before ? userStands(before) : [],
      ...after ? putUser(after, edge.clock.now()) : removeUser(before?.id ?? ""),
      ...logged(c, edge, wanted),
    ],
  });
  if (!committed.ok && committed.error.code === "guard_failed") {
    const isOwnerless = committed.error.message.includes(OWNER_REMAINS);
    throw new ApiError(
      "conflict",
      isOwnerless ? "Somebody must remain the owner" : "Somebody else has changed this person; look again",
    );
  }
  if (!committed.ok && committed.error.code === "conflict") {
    throw new ApiError("conflict", "This Zulip user is linked to somebody else");
  }
  if (!committed.ok) refuseCommit(committed.error);
  await announcePeople(edge);
}

/** The message by which approval puts the change on record, as part of the batch that makes it. */
function logged(c: Context<EdgeEnv>, edge: Edge, { change, before, after }: Change): Statement[] {
  const { viewer, userName, deviceId } = c.get("session");
  const by = { userId: viewer.userId, role: viewer.role, name: userName, surface: "web", device: deviceId };
  const id = after?.id ?? before?.id;
  const message = {
    to: "approval",
    type: "person.changed" as const,
    payload: { by, change, id, before, after },
  };
  const checked = checkSend("edge", message);
  if (!checked.ok) refuse(checked.error);
  const at = edge.clock.now();
  return insertMessage({ ...message, ...checked.value, id: edge.newId(), from: "edge", at });
}

async function find(edge: Edge, id: string): Promise<Person> {
  const person = (await listPeople(edge.db)).find((each) => each.id === id);
  if (!person) throw new ApiError("not_found", "There is no such person");
  return person;
}

function toRecord(id: string, user: z.output<typeof UserInput>): UserRecord {
  // Of a channel that is named twice the last counts, as in the rows.
  const channels = [...new Map(user.channels.map(({ id, access }) => [id, access]))];
  return { id, ...user, channels: channels.map(([channel, access]) => ({ id: channel, access })) };
}

function recordOf({ id, name, role, zulipUserId, channels }: Person): UserRecord {
  return { id, name, role, zulipUserId, channels: [...channels].map(([id, access]) => ({ id, access })) };
}

function userView(person: Person): UserView {
  const { channels, ...user } = recordOf(person);
  return { ...user, channels: [...channels] };
}
