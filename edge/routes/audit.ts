/**
 * The decisions log, the proof that nobody changed it, its export, and taking a change of policy back, which is a change of its own. The owner's
 * alone: entries hold what was asked in every channel. Proven by `edge/inbox_test.ts` and `edge/rules_test.ts`.
 */
import { Hono } from "hono";
import * as z from "zod";
import { auditNames } from "../../store/queries/audit_names.ts";
import { latestDecisions, listDecisions } from "../../store/queries/audit.ts";
import { verifyChain } from "../../store/queries/chain.ts";
import type { AuditEntry, AuditExportLine, AuditList, AuditVerdict } from "../api.ts";
import { requireRole } from "../auth.ts";
import { readQuery } from "../body.ts";
import { change } from "../change.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { requireFresh } from "../fresh.ts";
import { limitWrites } from "../rate.ts";
import { inverseOf, isOvertaken } from "../revert.ts";
import { auditView, shownView } from "../views.ts";

const AuditPage = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  before: z.coerce.number().int().positive().optional(),
  order: z.enum(["asc", "desc"]).default("asc"),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

const Seq = z.coerce.number().int().positive();
const EXPORT_PAGE = 500;
const CHANGES_PAGE = 500;

/** `/api/audit`. */
export function auditRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("/", async (c) => {
    requireRole(c, "owner");
    const { after, before, order, limit } = readQuery(c, AuditPage);
    if (order === "asc" && before !== undefined) {
      throw new ApiError("bad_request", "before: goes with order=desc");
    }
    const rows = order === "asc"
      ? await listDecisions(edge.db, after, limit)
      : await latestDecisions(edge.db, { after, before, limit });
    const names = await auditNames(edge.db, rows);
    const entries = rows.map((row) => ({ ...auditView(row), shown: shownView(row, names) }));
    const last = entries.length === limit ? entries.at(-1) : undefined;
    return c.json({ entries, ...(last ? { next: last.seq } : {}) } satisfies AuditList);
  });

  app.get("/verify", async (c) => {
    requireRole(c, "owner");
    return c.json(await verifyChain(edge.db) satisfies AuditVerdict);
  });

  app.get("/export", (c) => {
    requireRole(c, "owner");
    c.header("content-type", "application/x-ndjson");
    c.header("content-disposition", 'attachment; filename="decisions.jsonl"');
    return c.body(exported(edge));
  });

  app.post("/:seq/revert", async (c) => {
    requireRole(c, "owner");
    await limitWrites(c, edge);
    requireFresh(c, edge);
    const seq = Seq.safeParse(c.req.param("seq")).data;
    const [row] = seq === undefined ? [] : await listDecisions(edge.db, seq - 1, 1);
    if (!row || row.seq !== seq) throw new ApiError("not_found", "There is no such entry");
    const entry = auditView(row);
    const command = entry.kind === "policy" ? inverseOf(entry.decision, entry.body) : undefined;
    if (!command) throw new ApiError("bad_request", "This entry is no change that can be taken back");
    if (await isOvertaken(entry, changesAfter(edge, row.seq))) {
      throw new ApiError("conflict", "It was changed again since; take that back first");
    }
    return await change(c, edge, command, seq);
  });

  return app;
}

/** The changes of policy after an entry, newest first, read as far as they are looked at. */
async function* changesAfter(edge: Edge, after: number): AsyncGenerator<AuditEntry> {
  let before: number | undefined;
  do {
    const rows = await latestDecisions(edge.db, { after, before, kind: "policy", limit: CHANGES_PAGE });
    yield* rows.map(auditView);
    before = rows.length === CHANGES_PAGE ? rows.at(-1)?.seq : undefined;
  } while (before !== undefined);
}

/** Every entry, a line each, read page by page as the other end takes it. */
function exported(edge: Edge): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let after = 0;
  return new ReadableStream({
    async pull(controller) {
      const rows = await listDecisions(edge.db, after, EXPORT_PAGE);
      const lines = rows.map((row) =>
        JSON.stringify({ ...auditView(row), body: row.body } satisfies AuditExportLine)
      );
      if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.join("\n")}\n`));
      after = rows.at(-1)?.seq ?? after;
      if (rows.length < EXPORT_PAGE) controller.close();
    },
  });
}
