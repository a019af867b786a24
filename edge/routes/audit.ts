/**
 * The decisions log and the proof that nobody changed it. The owner's alone: entries hold what was asked in every channel.
 * Proven by `edge/inbox_test.ts`.
 */
import { Hono } from "hono";
import * as z from "zod";
import { listDecisions } from "../../store/queries/audit.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import type { AuditList, AuditVerdict } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readQuery } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { auditView } from "../views.ts";

const AuditPage = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** `/api/audit`. */
export function auditRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    requireRole(c, "owner");
    const { after, limit } = readQuery(c, AuditPage);
    const entries = (await listDecisions(edge.db, after, limit)).map(auditView);
    const last = entries.length === limit ? entries.at(-1) : undefined;
    return c.json({ entries, ...(last ? { next: last.seq } : {}) } satisfies AuditList);
  });

  app.get("/verify", async (c) => {
    requireRole(c, "owner");
    return c.json(await verifyChain(edge.db) satisfies AuditVerdict);
  });

  return app;
}
