/**
 * Operations on pending items. An item's compare-and-set (`item.claim`) does not fail when it loses: approval says the same to itself as a message
 * in the same commit, and whichever decision stands first in its mailbox has won. Proven by `actors/approval/approval_test.ts`.
 */
import * as z from "zod";
import { sql, type Statement } from "../db.ts";
import { op } from "../op.ts";

const by = ["approval"] as const;
const json = (value: unknown) => value === undefined ? null : JSON.stringify(value);

/** What is stored of a decision with its item; `decided_by` holds the identity that *same person* is judged by. */
export const StoredDecision = z.object({
  decision: z.string(),
  by: z.string(),
  surface: z.enum(["web", "zulip", "api", "system"]),
  device: z.string().optional(),
  /** Until then it can be taken back; milliseconds since the epoch. */
  undoUntil: z.int().optional(),
  answer: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
});
export type StoredDecision = z.infer<typeof StoredDecision>;

/** The first of two approvals, as stored with the item. `identity` is what *same person* is judged by. */
export const StoredApproval = z.object({ by: z.string(), identity: z.string(), at: z.int() });
export type StoredApproval = z.infer<typeof StoredApproval>;

const Create = z.object({
  id: z.string(),
  kind: z.enum(["approval", "question", "elicitation", "restart"]),
  conversation: z.string(),
  turnId: z.string().optional(),
  callId: z.string().optional(),
  tool: z.string().optional(),
  arguments: z.string().optional(),
  described: z.unknown().optional(),
  digest: z.string().optional(),
  risk: z.enum(["low", "medium", "high"]).optional(),
  /** `{ steps, context }`: why it waits, and where the call comes from. */
  trace: z.unknown().optional(),
  /** `{ text, suggestions, sealTo, asker, form, link }`. */
  question: z.unknown().optional(),
  expiresAt: z.int().optional(),
});

const Claim = z.object({
  id: z.string(),
  version: z.int(),
  decision: StoredDecision.nullable(),
  decidedBy: z.string(),
  note: z.string().optional(),
});

const Reopen = z.object({ id: z.string(), first: StoredApproval.optional(), note: z.string().optional() });

const Settle = z.object({
  id: z.string(),
  state: z.enum(["applied", "failed", "expired", "superseded", "cancelled"]),
  note: z.string().optional(),
  undoUntil: z.int().optional(),
});

/** Announces an item at the version that it has by then. */
function announceItem(id: string, now: number): Statement {
  return sql(
    "INSERT INTO feed (kind, ref, version, at) SELECT 'item', id, version, ? FROM pending_items WHERE id = ?",
    now,
    id,
  );
}

/** Operations of this subject. */
export const itemOps = {
  "item.create": op(by, Create, (input, { now }) => [
    sql(
      `INSERT INTO pending_items (id, kind, state, version, conversation, turn_id, call_id, tool, arguments, described, digest, risk, trace,
         question, created_at, updated_at, expires_at) VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      input.id,
      input.kind,
      input.conversation,
      input.turnId,
      input.callId,
      input.tool,
      input.arguments,
      json(input.described),
      input.digest,
      input.risk,
      json(input.trace),
      json(input.question),
      now,
      now,
      input.expiresAt,
    ),
    announceItem(input.id, now),
  ]),
  "item.claim": op(by, Claim, (input, { now }) => [
    sql(
      `UPDATE pending_items SET state = 'decided', version = version + 1, decision = ?, decided_by = ?, note = ?, decided_at = ?,
         updated_at = ? WHERE id = ? AND version = ? AND state = 'waiting'`,
      input.decision === null ? null : json(input.decision),
      input.decidedBy,
      input.note,
      now,
      now,
      input.id,
      input.version,
    ),
    announceItem(input.id, now),
  ]),
  /** It goes on waiting after its time, unless somebody decided it first. */
  "item.prolong": op(
    by,
    z.object({ id: z.string(), version: z.int(), expiresAt: z.int() }),
    (input, { now }) => [
      sql(
        "UPDATE pending_items SET expires_at = ?, updated_at = ? WHERE id = ? AND version = ? AND state = 'waiting'",
        input.expiresAt,
        now,
        input.id,
        input.version,
      ),
      announceItem(input.id, now),
    ],
  ),
  /** Nobody decided in time: it is handed on to a person and waits once more, unless somebody decided it first. */
  "item.escalate": op(
    by,
    z.object({ id: z.string(), version: z.int(), expiresAt: z.int(), to: z.string(), round: z.int() }),
    (input, { now }) => [
      sql(
        `UPDATE pending_items SET expires_at = ?, delegated_to = ?, escalated_at = ?, escalation = ?, updated_at = ?
         WHERE id = ? AND version = ? AND state = 'waiting'`,
        input.expiresAt,
        input.to,
        now,
        input.round,
        now,
        input.id,
        input.version,
      ),
      announceItem(input.id, now),
    ],
  ),
  /** Decided by one person where two are needed, or edited to something that cannot run: it waits again, in a new version. */
  "item.reopen": op(by, Reopen, (input, { now }) => [
    sql(
      `UPDATE pending_items SET state = 'waiting', version = version + 1, first_approval = COALESCE(?, first_approval), decision = NULL,
         decided_by = NULL, decided_at = NULL, note = ?, updated_at = ? WHERE id = ? AND state = 'decided'`,
      json(input.first),
      input.note,
      now,
      input.id,
    ),
    announceItem(input.id, now),
  ]),
  "item.settle": op(by, Settle, (input, { now }) => [
    sql(
      `UPDATE pending_items SET state = ?, version = version + 1, note = COALESCE(?, note), updated_at = ?,
         decision = CASE WHEN ? IS NULL THEN decision ELSE json_set(decision, '$.undoUntil', ?) END
       WHERE id = ? AND state IN ('waiting', 'decided')`,
      input.state,
      input.note,
      now,
      input.undoUntil,
      input.undoUntil,
      input.id,
    ),
    announceItem(input.id, now),
  ]),
  /** The answer to the last question of a call reached nobody. */
  "item.unheard": op(by, z.object({ callId: z.string(), note: z.string() }), (input, { now }) => {
    const last =
      "id = (SELECT max(id) FROM pending_items WHERE call_id = ? AND kind IN ('question', 'elicitation')) AND state = 'applied'";
    return [
      sql(
        `UPDATE pending_items SET state = 'superseded', version = version + 1, note = ?, updated_at = ? WHERE ${last}`,
        input.note,
        now,
        input.callId,
      ),
      sql(
        `INSERT INTO feed (kind, ref, version, at) SELECT 'item', id, version, ? FROM pending_items
         WHERE call_id = ? AND state = 'superseded' ORDER BY id DESC LIMIT 1`,
        now,
        input.callId,
      ),
    ];
  }),
  /** A person took the allowance back before the call began. */
  "item.undo": op(by, z.object({ id: z.string(), note: z.string() }), (input, { now }) => [
    sql(
      `UPDATE pending_items SET state = 'cancelled', version = version + 1, note = ?, decision = json_remove(decision, '$.undoUntil'),
         updated_at = ? WHERE id = ? AND state = 'applied'`,
      input.note,
      now,
      input.id,
    ),
    announceItem(input.id, now),
  ]),
  /** A message about it went to somebody's device. What is shown of it did not change, so its version stays. */
  "item.reached": op(by, z.object({ id: z.string() }), (input, { now }) => [
    sql(
      "UPDATE pending_items SET delivered_at = ?, updated_at = ? WHERE id = ? AND delivered_at IS NULL",
      now,
      now,
      input.id,
    ),
    announceItem(input.id, now),
  ]),
  "item.card": op(
    by,
    z.object({ id: z.string(), messageId: z.int(), whole: z.boolean() }),
    (input, { now }) => [
      sql(
        `UPDATE pending_items SET card_message_id = ?, card_whole = ?, delivered_at = COALESCE(delivered_at, ?), updated_at = ?
         WHERE id = ?`,
        input.messageId,
        input.whole,
        now,
        now,
        input.id,
      ),
      announceItem(input.id, now),
    ],
  ),
} as const;
