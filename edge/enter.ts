/**
 * The last step of every sign-in: a new session, never one that the browser brought, in the batch that uses up what the person proved it with.
 * Proven by `edge/session_test.ts` and `edge/passkeys_test.ts`.
 */
import type { Context } from "hono";
import { insertSession } from "../store/edge/sessions.ts";
import type { Statement } from "../store/db.ts";
import { setSessionCookie } from "./auth.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { ApiError, refuseCommit } from "./errors.ts";
import { announcePeople } from "./people.ts";
import { csrfOf, hashOf, newSecret } from "./secrets.ts";

/** Who signs in, and what must be in the session's batch. */
export interface Entrance {
  readonly userId: string;
  /** Fails the batch when somebody was faster. */
  readonly use: readonly Statement[];
  /** The device's name, where the person gave one. */
  readonly device?: string | undefined;
  /** What to say to whoever was slower. */
  readonly refusal: string;
}

/** Makes the session and gives it to the browser. Throws `unauthorized` when the proof was used meanwhile. */
export async function enter(c: Context<EdgeEnv>, edge: Edge, entrance: Entrance): Promise<void> {
  const secret = newSecret(edge.randomBytes);
  const session = {
    hash: hashOf(secret),
    csrfHash: hashOf(csrfOf(secret)),
    userId: entrance.userId,
    deviceId: edge.newId(),
    deviceName: entrance.device ?? deviceName(c.req.header("user-agent")),
  };
  const statements = [...entrance.use, ...insertSession(session, edge.clock.now())];
  const committed = await edge.committer.commit({ id: session.deviceId, statements });
  if (!committed.ok && committed.error.code === "guard_failed") {
    throw new ApiError("unauthorized", entrance.refusal);
  }
  if (!committed.ok) refuseCommit(committed.error);
  await announcePeople(edge);
  setSessionCookie(c, edge, secret);
}

/** `Firefox on Linux`: enough to recognise one's own phone in a list. */
function deviceName(userAgent = ""): string {
  const browser = ["Firefox", "Edg", "Chrome", "Safari"].find((name) => userAgent.includes(name));
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"].find((name) =>
    userAgent.includes(name)
  );
  const named = browser === "Edg" ? "Edge" : browser;
  return [named ?? "A client", ...(system ? [`on ${system}`] : [])].join(" ");
}
