/**
 * `GET /api/stream`: server-sent events with a cursor. Proven by `edge/stream_test.ts`.
 */
import { Hono } from "hono";
import * as z from "zod";
import type { EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import type { Streams } from "../streams.ts";

const Cursor = z.coerce.number().int().min(0);
const Names = z.array(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)).max(8);

/** The one route. */
export function streamRoutes(streams: Streams): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    // A browser that connects again repeats the address it began with, so its own header is the newer one.
    const text = c.req.header("last-event-id") ?? c.req.query("after");
    const after = text === undefined ? undefined : Cursor.safeParse(text);
    const conversations = Names.safeParse(c.req.queries("conversation") ?? []);
    if (after?.success === false) throw new ApiError("bad_request", "after: must be a whole number");
    if (!conversations.success) throw new ApiError("bad_request", "conversation: at most eight ids");
    c.header("Content-Type", "text/event-stream");
    c.header("Cache-Control", "no-store, no-transform");
    c.header("X-Accel-Buffering", "no");
    // Nobody would ever read, or leave, the stream of a HEAD request.
    if (c.req.method === "HEAD") return c.body(null);
    const session = c.get("session");
    const body = await streams.open({ session, after: after?.data, conversations: conversations.data });
    return c.body(body);
  });

  return app;
}
