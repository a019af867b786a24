/**
 * Who is asking: the cookie, the session behind it, and what its role may do. State-changing calls must also repeat the session's CSRF token in
 * a header. Roles and entitlements are decided by `store/queries/access.ts`. Proven by `edge/permissions_test.ts`.
 */
import type { Context, MiddlewareHandler } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { canAct, canSee, type Viewer } from "../store/queries/access.ts";
import { findSession, SESSION_MAX_MS, SESSION_TOUCH_MS, touchSession } from "../store/edge/sessions.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { announcePeople } from "./people.ts";
import { isSecure } from "./origin.ts";
import { csrfOf, hashOf, isSameSecret } from "./secrets.ts";

/** The header that repeats `Me.csrf`. */
export const CSRF_HEADER = "X-Callboard-Csrf";

const READING = new Set(["GET", "HEAD"]);

/** Gives the browser its session. Without TLS (loopback only) the name cannot have the `__Host-` prefix. */
export function setSessionCookie(c: Context<EdgeEnv>, edge: Edge, secret: string): void {
  const secure = isSecure(c, edge.config);
  setCookie(c, cookieName(secure), secret, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure,
    maxAge: SESSION_MAX_MS / 1000,
  });
}

/** Takes the session away from the browser. */
export function clearSessionCookie(c: Context<EdgeEnv>, edge: Edge): void {
  const secure = isSecure(c, edge.config);
  deleteCookie(c, cookieName(secure), { path: "/", secure });
}

/** Lets only signed-in requests pass, and state-changing ones only with the CSRF header. */
export function requireSession(edge: Edge): MiddlewareHandler<EdgeEnv> {
  return async (c, next) => {
    const secret = getCookie(c, cookieName(isSecure(c, edge.config)));
    const now = edge.clock.now();
    const session = secret === undefined ? undefined : await findSession(edge.db, hashOf(secret), now);
    if (secret === undefined || session === undefined) {
      throw new ApiError("unauthorized", "Sign in first");
    }
    if (
      !READING.has(c.req.method) && !isSameSecret(hashOf(c.req.header(CSRF_HEADER) ?? ""), session.csrfHash)
    ) {
      throw new ApiError("forbidden", `The header ${CSRF_HEADER} is missing or wrong; reload the page`);
    }
    c.set("session", session);
    c.set("csrf", csrfOf(secret));
    if (now - session.seenAt >= SESSION_TOUCH_MS) {
      await edge.db.batch(touchSession(session, now));
      await announcePeople(edge);
    }
    await next();
  };
}

/** The person who asks. */
export function viewerOf(c: Context<EdgeEnv>): Viewer {
  return c.get("session").viewer;
}

/** Throws `forbidden` unless the person has one of the roles. */
export function requireRole(c: Context<EdgeEnv>, ...roles: readonly Viewer["role"][]): void {
  if (!roles.includes(viewerOf(c).role)) {
    throw new ApiError("forbidden", `This needs the role ${roles.join(" or ")}`);
  }
}

/** Throws `not_found` unless the person may see what stands in this channel: what one may not see, one is not told of. */
export function requireSight(c: Context<EdgeEnv>, channelId: number | null, what: string): void {
  if (!canSee(viewerOf(c), channelId)) throw new ApiError("not_found", `There is no such ${what}`);
}

/** Throws unless the person may decide, write and stop in this channel. */
export function requireAct(c: Context<EdgeEnv>, channelId: number | null, what: string): void {
  requireSight(c, channelId, what);
  if (!canAct(viewerOf(c), channelId)) {
    throw new ApiError("forbidden", `You may look at this ${what}, not act on it`);
  }
}

function cookieName(secure: boolean): string {
  return secure ? "__Host-callboard" : "callboard";
}
