/**
 * Telling approval who may decide: it keeps a copy of people and entitlements, for Zulip reactions. Sent whole, after every change, sign-in
 * and sign-out and at each start; of several that wait only the newest is kept. Proven by `edge/users_test.ts`.
 */
import type { PeopleKnown } from "../actors/protocol/approval.ts";
import { listPeople } from "../store/queries/people.ts";
import type { Edge } from "./deps.ts";
import { send } from "./outbox.ts";

/** Sends everybody, as the rows are now. */
export async function announcePeople(edge: Edge): Promise<void> {
  const users = (await listPeople(edge.db)).map((
    { id, name, role, zulipUserId, sessionUntil, takesPush, channels },
  ) => ({
    id,
    name,
    role,
    zulipUserId,
    sessionUntil,
    ...(takesPush ? { takesPush } : {}),
    channels: [...channels].filter(([, access]) => access === "approve").map(([channel]) => channel),
  }));
  await send(edge, {
    to: "approval",
    type: "people.known",
    payload: { users } satisfies PeopleKnown,
    replaces: "people",
  });
}
