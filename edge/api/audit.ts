/**
 * The decisions log. Part of `edge/api.ts`.
 */
import * as z from "zod";

/** One link of the decisions chain. `hash` covers `prevHash` and the entry's own fields. */
export const AuditEntry = z.object({
  seq: z.int(),
  at: z.int(),
  kind: z.string(),
  itemId: z.string().optional(),
  callId: z.string().optional(),
  conversation: z.string().optional(),
  actor: z.string(),
  surface: z.string(),
  device: z.string().optional(),
  decision: z.string(),
  digest: z.string().optional(),
  body: z.unknown(),
  prevHash: z.string(),
  hash: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
/** What an entry's ids stand for today; no part of the chain. */
export const AuditShown = z.object({
  /** Whoever `actor` is. */
  who: z.string().optional(),
  tool: z.string().optional(),
  /** The call as it was described, or the question. */
  summary: z.string().optional(),
  /** The conversation's title. */
  title: z.string().optional(),
});
export type AuditShown = z.infer<typeof AuditShown>;
export const ShownEntry = AuditEntry.extend({ shown: AuditShown.optional() });
export type ShownEntry = z.infer<typeof ShownEntry>;
/**
 * `GET /api/audit?after=&before=&order=&limit=`: entries between two sequence numbers, `asc` (oldest first) unless `order=desc`. `next` is there when
 * there may be more: the `after` of the next page, or its `before` when the newest come first.
 */
export const AuditList = z.object({ entries: z.array(ShownEntry), next: z.int().optional() });
export type AuditList = z.infer<typeof AuditList>;

/**
 * `GET /api/audit/export`: every entry as one JSON line, `AuditEntry` with its body as the hashed text (`application/x-ndjson`).
 * `POST /api/audit/:seq/revert` (owner): undoes one change of policy by a new entry; 400 for what is none, 409 when policy has moved on.
 */
export const AuditExportLine = AuditEntry.extend({ body: z.string() });
export type AuditExportLine = z.infer<typeof AuditExportLine>;

/** `GET /api/audit/verify`: `brokenAt` is the first entry whose hash does not follow from what stands before it. */
export const AuditVerdict = z.object({ ok: z.boolean(), entries: z.int(), brokenAt: z.int().optional() });
export type AuditVerdict = z.infer<typeof AuditVerdict>;
