/**
 * Schema version 1. Hand-written, STRICT, forward only. Times are integers: milliseconds since the Unix epoch. JSON columns are TEXT.
 * `store/schema.ts` declares the same tables for typed queries; `store/migrate_test.ts` compares the two.
 */

/** The statements of this version, run in one transaction by the migrator. */
export const statements: readonly string[] = [
  // --- commits and the lease -------------------------------------------------------------------------------------------
  `CREATE TABLE guard (ok INTEGER NOT NULL) STRICT`,
  `CREATE TABLE commits (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE leases (
     name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, expires_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, at INTEGER NOT NULL) STRICT`,

  // --- actors and messages ---------------------------------------------------------------------------------------------
  `CREATE TABLE actors (
     ref TEXT PRIMARY KEY, kind TEXT NOT NULL, incarnation INTEGER NOT NULL DEFAULT 0, restarts INTEGER NOT NULL DEFAULT 0,
     down_reason TEXT, down_detail TEXT, down_at INTEGER, parked_at INTEGER, parked_reason TEXT,
     created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE downs (
     ref TEXT NOT NULL, incarnation INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT, suspect INTEGER NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (ref, incarnation)) STRICT`,
  `CREATE TABLE messages (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, v INTEGER NOT NULL, to_ref TEXT NOT NULL, from_ref TEXT NOT NULL,
     type TEXT NOT NULL, lane INTEGER NOT NULL, key TEXT, payload TEXT NOT NULL, cause TEXT, traceparent TEXT,
     at INTEGER NOT NULL, not_before INTEGER, dedupe TEXT, replaces TEXT,
     state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'started', 'done', 'dead')),
     started_at INTEGER, started_incarnation INTEGER, intent TEXT, failures INTEGER NOT NULL DEFAULT 0, done_at INTEGER) STRICT`,
  `CREATE UNIQUE INDEX messages_dedupe ON messages (dedupe) WHERE dedupe IS NOT NULL`,
  `CREATE INDEX messages_open ON messages (to_ref, lane, seq) WHERE state IN ('queued', 'started')`,
  `CREATE INDEX messages_done ON messages (done_at) WHERE state = 'done'`,
  `CREATE INDEX messages_replaces ON messages (to_ref, replaces) WHERE replaces IS NOT NULL AND state = 'queued'`,
  `CREATE INDEX messages_cause ON messages (to_ref, cause) WHERE to_ref = 'edge'`,
  `CREATE TABLE dead_letters (
     message_id TEXT PRIMARY KEY, to_ref TEXT NOT NULL, from_ref TEXT NOT NULL, type TEXT NOT NULL, reason TEXT NOT NULL,
     detail TEXT, failures INTEGER NOT NULL, at INTEGER NOT NULL, settled TEXT, settled_at INTEGER) STRICT`,
  `CREATE TABLE events (
     actor TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (actor, seq)) STRICT, WITHOUT ROWID`,

  // --- conversations and Zulip -----------------------------------------------------------------------------------------
  `CREATE TABLE conversations (
     id TEXT PRIMARY KEY, title TEXT NOT NULL, source TEXT NOT NULL, channel_id INTEGER, profile TEXT NOT NULL, model TEXT,
     status TEXT NOT NULL CHECK (status IN ('idle', 'running', 'waiting', 'paused', 'parked')), turns INTEGER NOT NULL DEFAULT 0,
     input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, cost_usd REAL NOT NULL DEFAULT 0,
     preview TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER) STRICT`,
  `CREATE INDEX conversations_recent ON conversations (updated_at DESC)`,
  `CREATE TABLE topics (
     conversation TEXT PRIMARY KEY, realm TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('channel', 'dm')), channel_id INTEGER,
     base_topic TEXT, topic TEXT, user_ids TEXT, last_own_id INTEGER, retired_at INTEGER,
     created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE UNIQUE INDEX topics_channel ON topics (realm, channel_id, base_topic) WHERE kind = 'channel' AND retired_at IS NULL`,
  `CREATE UNIQUE INDEX topics_dm ON topics (realm, user_ids) WHERE kind = 'dm' AND retired_at IS NULL`,
  `CREATE TABLE posts (
     local_id TEXT PRIMARY KEY, conversation TEXT NOT NULL, key TEXT NOT NULL UNIQUE, target TEXT NOT NULL, body TEXT NOT NULL,
     body_hash TEXT NOT NULL, queue_id TEXT, after_id INTEGER NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('intent', 'posted', 'failed', 'deleted')), message_id INTEGER UNIQUE,
     sent_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE INDEX posts_open ON posts (conversation) WHERE state = 'intent'`,
  `CREATE TABLE zulip_marks (realm TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (realm, name)) STRICT`,
  `CREATE TABLE webhook_receipts (realm TEXT NOT NULL, message_id INTEGER NOT NULL, deliveries INTEGER NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (realm, message_id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE attachments (
     id TEXT PRIMARY KEY, conversation TEXT NOT NULL, name TEXT NOT NULL, mime TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
     path TEXT NOT NULL, at INTEGER NOT NULL) STRICT`,

  // --- tool calls and policy -------------------------------------------------------------------------------------------
  `CREATE TABLE tool_calls (
     id TEXT PRIMARY KEY, conversation TEXT NOT NULL, turn_id TEXT NOT NULL, model_call_id TEXT NOT NULL, tool TEXT NOT NULL,
     arguments TEXT NOT NULL, triggered_by TEXT NOT NULL DEFAULT 'person' CHECK (triggered_by IN ('person', 'schedule')),
     state TEXT NOT NULL CHECK (state IN ('proposed', 'described', 'judged', 'waiting', 'decided', 'executing', 'finished', 'failed',
       'rejected', 'cancelled', 'expired')),
     described TEXT, digest TEXT, outcome TEXT, trace TEXT, grant_json TEXT, result TEXT, created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL) STRICT`,
  `CREATE INDEX tool_calls_conversation ON tool_calls (conversation, created_at)`,
  `CREATE INDEX tool_calls_executing ON tool_calls (state) WHERE state = 'executing'`,
  `CREATE TABLE pending_items (
     id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('approval', 'question', 'elicitation', 'restart')),
     state TEXT NOT NULL CHECK (state IN ('waiting', 'decided', 'applied', 'failed', 'expired', 'superseded', 'cancelled')),
     version INTEGER NOT NULL, conversation TEXT NOT NULL, turn_id TEXT, call_id TEXT, tool TEXT, arguments TEXT, described TEXT,
     digest TEXT, risk TEXT CHECK (risk IN ('low', 'medium', 'high')), trace TEXT, question TEXT, decision TEXT, note TEXT,
     delegated_to TEXT, first_approval TEXT, card_message_id INTEGER, card_whole INTEGER, delivered_at INTEGER, seen_at INTEGER, decided_at INTEGER, decided_by TEXT, escalated_at INTEGER, escalation INTEGER,
     created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER) STRICT`,
  `CREATE TABLE item_later (
     item_id TEXT NOT NULL, user_id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (item_id, user_id)) STRICT, WITHOUT ROWID`,
  `CREATE INDEX pending_items_state ON pending_items (state, created_at)`,
  `CREATE INDEX pending_items_call ON pending_items (call_id)`,
  `CREATE TABLE decisions (
     seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, item_id TEXT, call_id TEXT, conversation TEXT, actor TEXT NOT NULL,
     surface TEXT NOT NULL, device TEXT, decision TEXT NOT NULL, digest TEXT, body TEXT NOT NULL, prev_hash TEXT NOT NULL,
     hash TEXT NOT NULL UNIQUE) STRICT`,
  `CREATE TABLE rule_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, created_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE rules (
     id TEXT PRIMARY KEY, group_id TEXT NOT NULL REFERENCES rule_groups (id), layer TEXT NOT NULL CHECK (layer IN ('protected', 'normal')),
     ordinal INTEGER NOT NULL, priority INTEGER NOT NULL, action TEXT NOT NULL CHECK (action IN ('allow', 'ask', 'deny')),
     tool_pattern TEXT NOT NULL, path_pattern TEXT, argv_prefix TEXT, agent TEXT, source TEXT, note TEXT, expires_at INTEGER,
     max_uses INTEGER, uses INTEGER NOT NULL DEFAULT 0, last_used_at INTEGER, created_by TEXT NOT NULL, created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL) STRICT`,
  `CREATE INDEX rules_order ON rules (group_id, layer, priority, ordinal)`,
  `CREATE TABLE bypasses (
     id TEXT PRIMARY KEY, conversation TEXT NOT NULL, scope TEXT NOT NULL CHECK (scope IN ('tool', 'category', 'mcp', 'all')), pattern TEXT,
     granted_by TEXT NOT NULL, surface TEXT NOT NULL, uses INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL, ended_at INTEGER, ended_reason TEXT) STRICT`,
  `CREATE TABLE profiles (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, brain TEXT NOT NULL, model TEXT, group_id TEXT NOT NULL REFERENCES rule_groups (id),
     config TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE known_tools (
     name TEXT PRIMARY KEY, source TEXT NOT NULL, class TEXT NOT NULL, description TEXT NOT NULL, parameters TEXT NOT NULL,
     schema_hash TEXT NOT NULL, hints TEXT, trusted INTEGER NOT NULL DEFAULT 0, mode TEXT CHECK (mode IN ('prompt', 'approve')),
     available INTEGER NOT NULL, first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, changed_at INTEGER) STRICT`,
  `CREATE TABLE mcp_servers (
     name TEXT PRIMARY KEY, state TEXT NOT NULL, detail TEXT, tools INTEGER NOT NULL DEFAULT 0, unsandboxed INTEGER NOT NULL,
     trusted INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE budgets (
     scope TEXT NOT NULL, ref TEXT NOT NULL, period TEXT NOT NULL, tokens INTEGER NOT NULL DEFAULT 0, cost_usd REAL NOT NULL DEFAULT 0,
     token_cap INTEGER, cost_cap_usd REAL, at INTEGER NOT NULL, PRIMARY KEY (scope, ref, period)) STRICT`,

  // --- schedules -------------------------------------------------------------------------------------------------------
  `CREATE TABLE schedules (
     id TEXT PRIMARY KEY, conversation TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('once', 'every', 'cron')),
     spec TEXT NOT NULL, prompt TEXT NOT NULL, time_zone TEXT NOT NULL, enabled INTEGER NOT NULL, next_at INTEGER, last_at INTEGER,
     created_by TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (conversation, key)) STRICT`,
  `CREATE TABLE schedule_runs (
     schedule TEXT NOT NULL, planned_at INTEGER NOT NULL, ran_at INTEGER NOT NULL, missed INTEGER NOT NULL,
     PRIMARY KEY (schedule, planned_at)) STRICT, WITHOUT ROWID`,

  // --- people and devices (written by the edge) ------------------------------------------------------------------------
  `CREATE TABLE users (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL CHECK (role IN ('owner', 'approver', 'viewer')),
     zulip_user_id INTEGER UNIQUE, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE entitlements (user_id TEXT NOT NULL, channel_id INTEGER NOT NULL, access TEXT NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (user_id, channel_id)) STRICT`,
  `CREATE TABLE devices (
     id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
     revoked_at INTEGER) STRICT`,
  `CREATE TABLE sessions (
     hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, csrf TEXT NOT NULL, created_at INTEGER NOT NULL,
     authenticated_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE login_tokens (
     hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER) STRICT`,
  `CREATE TABLE passkeys (
     id TEXT PRIMARY KEY, user_id TEXT NOT NULL, public_key BLOB NOT NULL, counter INTEGER NOT NULL, transports TEXT NOT NULL,
     name TEXT NOT NULL, multi_device INTEGER NOT NULL, backed_up INTEGER NOT NULL, created_at INTEGER NOT NULL,
     used_at INTEGER) STRICT`,
  `CREATE TABLE webauthn_challenges (
     hash TEXT PRIMARY KEY, user_id TEXT, purpose TEXT NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER) STRICT`,
  `CREATE TABLE push_subscriptions (
     id TEXT PRIMARY KEY, device_id TEXT NOT NULL, endpoint TEXT NOT NULL UNIQUE, p256dh TEXT NOT NULL, auth TEXT NOT NULL,
     created_at INTEGER NOT NULL, failed_at INTEGER) STRICT`,
  `CREATE TABLE push_deliveries (
     item_id TEXT NOT NULL, subscription_id TEXT NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (item_id, subscription_id)) STRICT`,
  `CREATE TABLE rate_limits (key TEXT PRIMARY KEY, tokens REAL NOT NULL, at INTEGER NOT NULL) STRICT`,

  // --- what viewers follow ---------------------------------------------------------------------------------------------
  `CREATE TABLE feed (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ref TEXT NOT NULL, version INTEGER NOT NULL,
     at INTEGER NOT NULL) STRICT`,
  `CREATE TABLE live (ref TEXT PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, at INTEGER NOT NULL) STRICT`,
];
