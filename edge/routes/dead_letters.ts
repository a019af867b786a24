/**
 * Messages that were given up, for the owner: a look, another try, or the end. The supervisor carries it out. Proven by
 * `edge/permissions_test.ts` and `tests/e2e/dead_letter_test.ts`.
 */
import { type Context, Hono } from "hono";
import * as z from "zod";
import { type DeadLetterRow, findDeadLetter, listDeadLetters } from "../../store/dead_letters.ts";
import { type DeadLetterList, type DeadLetterView, Page } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readQuery } from "../body.ts";
import { answer } from "../change.ts";
import { command } from "../commands.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { limitWrites } from "../rate.ts";

/** The `after` of a page: when the last one was given up, and its id. */
const Cursor = z.string().regex(/^\d{1,16}~[\w-]{1,64}$/).transform((text) => {
  const [at = "", id = ""] = text.split("~");
  return { at: Number(at), id };
});
const Query = Page.extend({ after: Cursor.optional(), state: z.enum(["open", "all"]).default("all") });

/** `/api/dead-letters`. */
export function deadLetterRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    requireRole(c, "owner");
    const { limit, after, state } = readQuery(c, Query);
    const rows = await listDeadLetters(edge.db, { limit, after, open: state === "open" });
    const last = rows.length === limit ? rows.at(-1) : undefined;
    const next = last ? { next: `${last.at}~${last.message_id}` } : {};
    return c.json({ deadLetters: rows.map(view), ...next } satisfies DeadLetterList);
  });

  app.post("/:id/retry", async (c) => await settle(c, edge, "retry"));
  app.post("/:id/discard", async (c) => await settle(c, edge, "discard"));

  return app;
}

async function settle(c: Context<EdgeEnv>, edge: Edge, action: "retry" | "discard"): Promise<Response> {
  requireRole(c, "owner");
  const id = c.req.param("id") ?? "";
  const letter = await findDeadLetter(edge.db, id);
  if (!letter) throw new ApiError("not_found", "There is no such dead letter");
  if (letter.settled) throw new ApiError("conflict", `It was ${letter.settled} already`);
  await limitWrites(c, edge);
  const { viewer, userName } = c.get("session");
  const by = { kind: "web", id: viewer.userId, name: userName };
  const payload = { id, action, by };
  return answer(c, await command(edge, { to: "supervisor", type: "dead_letter.settle", payload }));
}

function view(row: DeadLetterRow): DeadLetterView {
  const { message_id: id, to_ref: to, from_ref: from, type, reason, failures, at } = row;
  return {
    id,
    to,
    from,
    type,
    reason,
    failures,
    at,
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.settled === null || row.settled_at === null
      ? {}
      : { settled: { how: row.settled, at: row.settled_at } }),
  };
}
