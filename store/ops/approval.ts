/**
 * Operations of the approval actor on policy and its record: rules, bypasses, known tools, the stop-everything switch and the decisions chain.
 * Items have their own file, `items.ts`. Proven by `actors/approval/approval_test.ts`.
 */
import * as z from "zod";
import { guard, labelled, sql } from "../db.ts";
import { announce } from "../feed.ts";
import { op } from "../op.ts";
import { profileOps } from "./profiles.ts";

const by = ["approval"] as const;
const json = (value: unknown) => value === undefined ? null : JSON.stringify(value);

const Tools = z.object({
  tools: z.array(z.object({
    name: z.string(),
    source: z.string(),
    class: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    schemaHash: z.string(),
    hints: z.record(z.string(), z.boolean().optional()).optional(),
    trusted: z.boolean().default(false),
    mode: z.enum(["prompt", "approve"]).optional(),
  })),
  sandbox: z.enum(["bwrap", "none"]),
});

const Append = z.object({
  seq: z.int().positive(),
  at: z.int(),
  kind: z.string(),
  itemId: z.string().nullable(),
  callId: z.string().nullable(),
  conversation: z.string().nullable(),
  actor: z.string(),
  surface: z.string(),
  device: z.string().nullable(),
  decision: z.string(),
  digest: z.string().nullable(),
  body: z.string(),
  prevHash: z.string(),
  hash: z.string(),
});

const NewRule = z.object({
  id: z.string(),
  layer: z.enum(["protected", "normal"]).default("normal"),
  groupId: z.string(),
  ordinal: z.int(),
  priority: z.int(),
  action: z.enum(["allow", "ask", "deny"]),
  toolPattern: z.string(),
  pathPattern: z.string().nullable(),
  argvPrefix: z.array(z.string()).nullable(),
  agent: z.string().nullable(),
  source: z.string().nullable(),
  note: z.string().nullable(),
  expiresAt: z.int().nullable(),
  maxUses: z.int().nullable(),
  createdBy: z.string(),
});

const NewBypass = z.object({
  id: z.string(),
  conversation: z.string(),
  scope: z.enum(["tool", "category", "mcp", "all"]),
  pattern: z.string().nullable(),
  grantedBy: z.string(),
  surface: z.string(),
  expiresAt: z.int(),
});

const policyOps = {
  "rule.create": op(by, NewRule, (input, { now }) => [
    sql(
      `INSERT INTO rules (id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, argv_prefix, agent, source, note,
         expires_at, max_uses, created_by, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      input.id,
      input.groupId,
      input.layer,
      input.ordinal,
      input.priority,
      input.action,
      input.toolPattern,
      input.pathPattern,
      input.argvPrefix === null ? null : json(input.argvPrefix),
      input.agent,
      input.source,
      input.note,
      input.expiresAt,
      input.maxUses,
      input.createdBy,
      now,
      now,
    ),
    announce("policy", input.id, 0, now),
  ]),
  /** As a person wrote it anew; its uses begin again. */
  "rule.update": op(by, NewRule.omit({ layer: true, ordinal: true, createdBy: true }), (input, { now }) => [
    sql(
      `UPDATE rules SET group_id = ?, priority = ?, action = ?, tool_pattern = ?, path_pattern = ?, argv_prefix = ?, agent = ?, source = ?,
         note = ?, expires_at = ?, max_uses = ?, uses = 0, updated_at = ? WHERE id = ?`,
      input.groupId,
      input.priority,
      input.action,
      input.toolPattern,
      input.pathPattern,
      input.argvPrefix === null ? null : json(input.argvPrefix),
      input.agent,
      input.source,
      input.note,
      input.expiresAt,
      input.maxUses,
      now,
      input.id,
    ),
    announce("policy", input.id, 0, now),
  ]),
  "rule.order": op(
    by,
    z.object({ ordinals: z.array(z.object({ id: z.string(), ordinal: z.int() })).max(1000) }),
    ({ ordinals }, { now }) => [
      ...ordinals.map(({ id, ordinal }) => sql("UPDATE rules SET ordinal = ? WHERE id = ?", ordinal, id)),
      announce("policy", "rules", 0, now),
    ],
  ),
  "rule.delete": op(by, z.object({ id: z.string() }), (input, { now }) => [
    sql("DELETE FROM rules WHERE id = ?", input.id),
    announce("policy", input.id, 0, now),
  ]),
  "rule.used": op(by, z.object({ id: z.string() }), (input, { now }) => [
    sql("UPDATE rules SET uses = uses + 1, last_used_at = ? WHERE id = ?", now, input.id),
  ]),
  "group.create": op(
    by,
    z.object({ id: z.string(), name: z.string(), description: z.string().optional() }),
    (input, { now }) => [
      sql(
        "INSERT INTO rule_groups (id, name, description, created_at) VALUES (?, ?, ?, ?)",
        input.id,
        input.name,
        input.description,
        now,
      ),
      announce("policy", input.id, 0, now),
    ],
  ),
  "group.update": op(
    by,
    z.object({ id: z.string(), name: z.string(), description: z.string().optional() }),
    (input, { now }) => [
      sql(
        "UPDATE rule_groups SET name = ?, description = ? WHERE id = ?",
        input.name,
        input.description,
        input.id,
      ),
      announce("policy", input.id, 0, now),
    ],
  ),
  "group.delete": op(by, z.object({ id: z.string() }), (input, { now }) => [
    sql("DELETE FROM rules WHERE group_id = ?", input.id),
    sql("DELETE FROM rule_groups WHERE id = ?", input.id),
    announce("policy", input.id, 0, now),
  ]),
  ...profileOps,
  "bypass.create": op(by, NewBypass, (input, { now }) => [
    sql(
      `INSERT INTO bypasses (id, conversation, scope, pattern, granted_by, surface, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      input.id,
      input.conversation,
      input.scope,
      input.pattern,
      input.grantedBy,
      input.surface,
      now,
      input.expiresAt,
    ),
    announce("policy", input.id, 0, now),
  ]),
  "bypass.used": op(by, z.object({ id: z.string() }), (input) => [
    sql("UPDATE bypasses SET uses = uses + 1 WHERE id = ?", input.id),
  ]),
  "bypass.end": op(by, z.object({ id: z.string(), reason: z.string() }), (input, { now }) => [
    sql(
      "UPDATE bypasses SET ended_at = ?, ended_reason = ? WHERE id = ? AND ended_at IS NULL",
      now,
      input.reason,
      input.id,
    ),
    announce("policy", input.id, 0, now),
  ]),
};

/** Operations of this subject. */
export const approvalOps = {
  ...policyOps,
  "tools.store": op(by, Tools, (input, { now }) => [
    sql("UPDATE known_tools SET available = 0"),
    ...input.tools.map((tool) =>
      sql(
        `INSERT INTO known_tools (name, source, class, description, parameters, schema_hash, hints, trusted, mode, available,
           first_seen, last_seen)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (name) DO UPDATE SET source = excluded.source, class = excluded.class,
           changed_at = CASE WHEN known_tools.schema_hash <> excluded.schema_hash AND excluded.source <> 'builtin' THEN excluded.last_seen
             ELSE changed_at END, description = excluded.description, parameters = excluded.parameters, schema_hash = excluded.schema_hash, available = 1,
           hints = excluded.hints, trusted = excluded.trusted, mode = excluded.mode, last_seen = excluded.last_seen`,
        tool.name,
        tool.source,
        tool.class,
        tool.description,
        json(tool.parameters),
        tool.schemaHash,
        tool.hints === undefined ? null : json(tool.hints),
        tool.trusted,
        tool.mode ?? null,
        now,
        now,
      )
    ),
    sql(
      `INSERT INTO settings (key, value, at) VALUES ('sandbox', ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
      input.sandbox,
      now,
    ),
    announce("policy", "tools", 0, now),
  ]),
  "decision.append": op(by, Append, (input) => [
    ...labelled(
      "the decisions chain ends where this entry begins",
      guard(
        "(SELECT COALESCE(max(seq), 0) FROM decisions) = ? AND COALESCE((SELECT hash FROM decisions WHERE seq = ?), ?) = ?",
        input.seq - 1,
        input.seq - 1,
        "0".repeat(64),
        input.prevHash,
      ),
    ),
    sql(
      `INSERT INTO decisions (seq, at, kind, item_id, call_id, conversation, actor, surface, device, decision, digest, body, prev_hash, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      input.seq,
      input.at,
      input.kind,
      input.itemId,
      input.callId,
      input.conversation,
      input.actor,
      input.surface,
      input.device,
      input.decision,
      input.digest,
      input.body,
      input.prevHash,
      input.hash,
    ),
  ]),
  /** The stop-everything switch; null lifts it. */
  "effects.suspend": op(
    by,
    z.object({ state: z.object({ by: z.string(), at: z.int() }).nullable() }),
    (input, { now }) => [
      input.state === null ? sql("DELETE FROM settings WHERE key = 'suspended'") : sql(
        `INSERT INTO settings (key, value, at) VALUES ('suspended', ?, ?)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
        json(input.state),
        now,
      ),
      announce("policy", "effects", 0, now),
    ],
  ),
  /** How the gate treats what waits; approval checks the shape. */
  "gate.store": op(by, z.object({ settings: z.record(z.string(), z.unknown()) }), (input, { now }) => [
    sql(
      `INSERT INTO settings (key, value, at) VALUES ('gate', ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at`,
      json(input.settings),
      now,
    ),
    announce("policy", "gate", 0, now),
  ]),
  /** The toolbox could not take over a call that may run; a call that has ended meanwhile is left as it is. */
  "call.abandon": op(by, z.object({ callId: z.string(), outcome: z.string() }), (input, { now }) => [
    sql(
      `UPDATE tool_calls SET state = 'failed', outcome = ?, updated_at = ?
       WHERE id = ? AND state IN ('judged', 'decided', 'executing')`,
      input.outcome,
      now,
      input.callId,
    ),
  ]),
} as const;
