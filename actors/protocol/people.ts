/** That the owner changed who is known and what they may do. The rows are the edge's already; approval alone keeps the log. */
import * as z from "zod";
import { Decider } from "./approval.ts";
import { message } from "./define.ts";

/** A person as their rows say. */
export const KnownPerson = z.object({
  name: z.string(),
  role: z.enum(["owner", "approver", "viewer"]),
  zulipUserId: z.int().nullable(),
  channels: z.array(z.object({ id: z.int(), access: z.enum(["view", "approve"]) })),
});
export type KnownPerson = z.infer<typeof KnownPerson>;

/** `before` and `after`: null where there was or is nobody. A sign-in link changes nothing of the person, but lets somebody in as them. */
export const PersonChanged = z.object({
  by: Decider,
  change: z.enum(["user.create", "user.update", "user.delete", "user.link"]),
  id: z.string(),
  before: KnownPerson.nullable(),
  after: KnownPerson.nullable(),
});
export type PersonChanged = z.infer<typeof PersonChanged>;

/** Message types of this subject. */
export const peopleMessages = {
  "person.changed": message(["edge"], ["approval"], PersonChanged, { lane: "control" }),
} as const;
