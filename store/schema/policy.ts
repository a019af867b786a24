/**
 * Tool calls, what waits for a person, and policy. Declared for typed queries as `store/migrations/` creates them;
 * indexes and checks are only there. `store/schema_test.ts` compares the two.
 */
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Every tool call and its state; `lib/call_state.ts` says who may change it. */
export const toolCalls = sqliteTable("tool_calls", {
  id: text("id").primaryKey(),
  conversation: text("conversation").notNull(),
  turnId: text("turn_id").notNull(),
  modelCallId: text("model_call_id").notNull(),
  tool: text("tool").notNull(),
  arguments: text("arguments").notNull(),
  triggeredBy: text("triggered_by", { enum: ["person", "schedule"] }).notNull().default("person"),
  state: text("state", {
    enum: [
      "proposed",
      "described",
      "judged",
      "waiting",
      "decided",
      "executing",
      "finished",
      "failed",
      "rejected",
      "cancelled",
      "expired",
    ],
  }).notNull(),
  described: text("described"),
  digest: text("digest"),
  outcome: text("outcome"),
  trace: text("trace"),
  grantJson: text("grant_json"),
  result: text("result"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** What waits, or waited, for a person. */
export const pendingItems = sqliteTable("pending_items", {
  id: text("id").primaryKey(),
  kind: text("kind", { enum: ["approval", "question", "elicitation", "restart"] }).notNull(),
  state: text("state", {
    enum: ["waiting", "decided", "applied", "failed", "expired", "superseded", "cancelled"],
  }).notNull(),
  version: integer("version").notNull(),
  conversation: text("conversation").notNull(),
  turnId: text("turn_id"),
  callId: text("call_id"),
  tool: text("tool"),
  arguments: text("arguments"),
  described: text("described"),
  digest: text("digest"),
  risk: text("risk", { enum: ["low", "medium", "high"] }),
  trace: text("trace"),
  question: text("question"),
  decision: text("decision"),
  note: text("note"),
  delegatedTo: text("delegated_to"),
  firstApproval: text("first_approval"),
  cardMessageId: integer("card_message_id"),
  cardWhole: integer("card_whole"),
  deliveredAt: integer("delivered_at"),
  seenAt: integer("seen_at"),
  decidedAt: integer("decided_at"),
  decidedBy: text("decided_by"),
  escalatedAt: integer("escalated_at"),
  escalation: integer("escalation"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  expiresAt: integer("expires_at"),
});

/** Who has put an item off until when; the edge writes it. */
export const itemLater = sqliteTable("item_later", {
  itemId: text("item_id").notNull(),
  userId: text("user_id").notNull(),
  until: integer("until").notNull(),
}, (table) => [primaryKey({ columns: [table.itemId, table.userId] })]);

/** The hash-chained log of decisions. */
export const decisions = sqliteTable("decisions", {
  seq: integer("seq").primaryKey(),
  at: integer("at").notNull(),
  kind: text("kind").notNull(),
  itemId: text("item_id"),
  callId: text("call_id"),
  conversation: text("conversation"),
  actor: text("actor").notNull(),
  surface: text("surface").notNull(),
  device: text("device"),
  decision: text("decision").notNull(),
  digest: text("digest"),
  body: text("body").notNull(),
  prevHash: text("prev_hash").notNull(),
  hash: text("hash").notNull().unique(),
});

/** Named sets of rules. */
export const ruleGroups = sqliteTable("rule_groups", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  description: text("description"),
  createdAt: integer("created_at").notNull(),
});

/** Allow, ask or deny, in order. */
export const rules = sqliteTable("rules", {
  id: text("id").primaryKey(),
  groupId: text("group_id").notNull(),
  layer: text("layer", { enum: ["protected", "normal"] }).notNull(),
  ordinal: integer("ordinal").notNull(),
  priority: integer("priority").notNull(),
  action: text("action", { enum: ["allow", "ask", "deny"] }).notNull(),
  toolPattern: text("tool_pattern").notNull(),
  pathPattern: text("path_pattern"),
  argvPrefix: text("argv_prefix"),
  agent: text("agent"),
  source: text("source"),
  note: text("note"),
  expiresAt: integer("expires_at"),
  maxUses: integer("max_uses"),
  uses: integer("uses").notNull().default(0),
  lastUsedAt: integer("last_used_at"),
  createdBy: text("created_by").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Temporary allowances of one conversation. */
export const bypasses = sqliteTable("bypasses", {
  id: text("id").primaryKey(),
  conversation: text("conversation").notNull(),
  scope: text("scope", { enum: ["tool", "category", "mcp", "all"] }).notNull(),
  pattern: text("pattern"),
  grantedBy: text("granted_by").notNull(),
  surface: text("surface").notNull(),
  uses: integer("uses").notNull().default(0),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  endedAt: integer("ended_at"),
  endedReason: text("ended_reason"),
});

/** Brain, model and rules of a conversation. */
export const profiles = sqliteTable("profiles", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  brain: text("brain").notNull(),
  model: text("model"),
  groupId: text("group_id").notNull(),
  config: text("config").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** Tools seen so far, with the hash of their schema. */
export const knownTools = sqliteTable("known_tools", {
  name: text("name").primaryKey(),
  source: text("source").notNull(),
  class: text("class").notNull(),
  description: text("description").notNull(),
  parameters: text("parameters").notNull(),
  schemaHash: text("schema_hash").notNull(),
  hints: text("hints"),
  trusted: integer("trusted").notNull().default(0),
  mode: text("mode", { enum: ["prompt", "approve"] }),
  available: integer("available").notNull(),
  firstSeen: integer("first_seen").notNull(),
  lastSeen: integer("last_seen").notNull(),
  changedAt: integer("changed_at"),
});

/** State of each configured MCP server. */
export const mcpServers = sqliteTable("mcp_servers", {
  name: text("name").primaryKey(),
  state: text("state").notNull(),
  detail: text("detail"),
  tools: integer("tools").notNull().default(0),
  unsandboxed: integer("unsandboxed").notNull(),
  trusted: integer("trusted").notNull().default(0),
  at: integer("at").notNull(),
});

/** Tokens and money used, and their caps. */
export const budgets = sqliteTable("budgets", {
  scope: text("scope").notNull(),
  ref: text("ref").notNull(),
  period: text("period").notNull(),
  tokens: integer("tokens").notNull().default(0),
  costUsd: real("cost_usd").notNull().default(0),
  tokenCap: integer("token_cap"),
  costCapUsd: real("cost_cap_usd"),
  at: integer("at").notNull(),
}, (table) => [primaryKey({ columns: [table.scope, table.ref, table.period] })]);
