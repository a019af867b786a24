/**
 * Operations on `tool_calls`, shared by conversation, toolbox and approval. Every move is a compare-and-set against `lib/call_state.ts`;
 * none leads to `executing` while everything is suspended, whatever is still on its way to the toolbox.
 */
import * as z from "zod";
import { callStates, sourcesOf } from "../../lib/call_state.ts";
import { guard, sql } from "../db.ts";
import { op } from "../op.ts";

const Propose = z.object({
  callId: z.string(),
  turnId: z.string(),
  modelCallId: z.string(),
  tool: z.string(),
  arguments: z.string(),
  /** What began the turn. */
  triggeredBy: z.enum(["person", "schedule"]),
});

/** `digest` with `to: "executing"` must equal the stored one; elsewhere it is stored. JSON values are stored as text. */
const Move = z.object({
  callId: z.string(),
  to: z.enum(callStates),
  described: z.unknown().optional(),
  digest: z.string().optional(),
  arguments: z.string().optional(),
  outcome: z.string().optional(),
  trace: z.unknown().optional(),
  grant: z.unknown().optional(),
  result: z.unknown().optional(),
});

const json = (value: unknown) => value === undefined ? null : JSON.stringify(value);

/** Operations of this subject. */
export const callOps = {
  "call.propose": op(["conversation"], Propose, (input, { id, now }) => [
    sql(
      `INSERT INTO tool_calls (id, conversation, turn_id, model_call_id, tool, arguments, triggered_by, state, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'proposed', ?, ?)`,
      input.callId,
      id,
      input.turnId,
      input.modelCallId,
      input.tool,
      input.arguments,
      input.triggeredBy,
      now,
      now,
    ),
  ]),
  "call.move": op(["conversation", "toolbox", "approval"], Move, (input, { kind, id, now }) => {
    const sources = sourcesOf(input.to, kind);
    const places = sources.map(() => "?").join(", ");
    const own = kind === "conversation" ? " AND conversation = ?" : "";
    const begins = input.to === "executing";
    const digest = begins ? " AND digest = ?" : "";
    const lifted = begins ? " AND NOT EXISTS (SELECT 1 FROM settings WHERE key = 'suspended')" : "";
    return [
      ...guard(
        `EXISTS (SELECT 1 FROM tool_calls WHERE id = ? AND state IN (${places})${own}${digest})${lifted}`,
        input.callId,
        ...sources,
        ...(own ? [id] : []),
        ...(digest ? [input.digest ?? ""] : []),
      ),
      sql(
        `UPDATE tool_calls SET state = ?, described = COALESCE(?, described), digest = COALESCE(?, digest),
           arguments = COALESCE(?, arguments), outcome = COALESCE(?, outcome), trace = COALESCE(?, trace),
           grant_json = COALESCE(?, grant_json), result = COALESCE(?, result), updated_at = ? WHERE id = ?`,
        input.to,
        json(input.described),
        input.digest,
        input.arguments,
        input.outcome,
        json(input.trace),
        json(input.grant),
        json(input.result),
        now,
        input.callId,
      ),
      // The card of such a call says so: *allowed* would be read as done.
      ...(input.outcome === "unknown"
        ? [sql(
          "INSERT INTO feed (kind, ref, version, at) SELECT 'item', id, version, ? FROM pending_items WHERE call_id = ? AND kind = 'approval'",
          now,
          input.callId,
        )]
        : []),
    ];
  }),
} as const;
