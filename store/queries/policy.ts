/**
 * Reads of rules, groups, bypasses, profiles and tools, for people. What approval judges by is loaded by approval itself.
 * Proven by `edge/policy_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";
import { type Viewer, visible } from "./access.ts";

/** A row of `rule_groups`. */
export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** A row of `rules`; `argv_prefix` is JSON text. */
export interface RuleRow {
  readonly id: string;
  readonly group_id: string;
  readonly layer: "protected" | "normal";
  readonly ordinal: number;
  readonly priority: number;
  readonly action: "allow" | "ask" | "deny";
  readonly tool_pattern: string;
  readonly path_pattern: string | null;
  readonly argv_prefix: string | null;
  readonly agent: string | null;
  readonly source: string | null;
  readonly note: string | null;
  readonly expires_at: number | null;
  readonly max_uses: number | null;
  readonly uses: number;
  readonly last_used_at: number | null;
  readonly created_by: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A bypass that still holds, with its conversation. */
export interface BypassRow {
  readonly id: string;
  readonly conversation: string;
  readonly title: string | null;
  readonly channel_id: number | null;
  readonly scope: "tool" | "category" | "mcp" | "all";
  readonly pattern: string | null;
  readonly granted_by: string;
  readonly surface: string;
  readonly uses: number;
  readonly created_at: number;
  readonly expires_at: number;
}

/** A row of `profiles`; `config` is JSON text. */
export interface ProfileRow {
  readonly id: string;
  readonly name: string;
  readonly brain: string;
  readonly model: string | null;
  readonly group_id: string;
  readonly config: string;
  readonly updated_at: number;
}

/** A row of `known_tools`; `parameters` is JSON text. */
export interface ToolRow {
  readonly name: string;
  readonly source: string;
  readonly class: string;
  readonly description: string;
  readonly parameters: string;
  readonly schema_hash: string;
  /** JSON: what its server says of it. */
  readonly hints: string | null;
  readonly trusted: number;
  readonly mode: "prompt" | "approve" | null;
  readonly available: number;
  readonly first_seen: number;
  readonly last_seen: number;
  readonly changed_at: number | null;
}

/** A row of `mcp_servers`. */
export interface ServerRow {
  readonly name: string;
  readonly state: string;
  readonly detail: string | null;
  readonly tools: number;
  readonly unsandboxed: number;
  readonly trusted: number;
  readonly at: number;
}

/** Every group, and every rule in the order in which a group's rules are looked at. Rejects with `DbError`. */
export async function listRules(db: Db): Promise<{ groups: GroupRow[]; rules: RuleRow[] }> {
  const [groups, rules] = await db.queryAll([
    sql("SELECT id, name, description FROM rule_groups ORDER BY created_at, id"),
    sql(
      `SELECT id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, argv_prefix, agent, source, note, expires_at,
       max_uses, uses, last_used_at, created_by, created_at, updated_at
       FROM rules ORDER BY group_id, layer = 'normal', priority, ordinal, id`,
    ),
  ]);
  return { groups: groups ? objects<GroupRow>(groups) : [], rules: rules ? objects<RuleRow>(rules) : [] };
}

const BYPASS =
  `SELECT b.id, b.conversation, c.title, c.channel_id, b.scope, b.pattern, b.granted_by, b.surface, b.uses, b.created_at, b.expires_at
  FROM bypasses b LEFT JOIN conversations c ON c.id = b.conversation WHERE b.ended_at IS NULL AND b.expires_at > ?`;

/** Bypasses in force that the viewer may see, the next to end first. Rejects with `DbError`. */
export async function listBypasses(db: Db, viewer: Viewer, now: number): Promise<BypassRow[]> {
  const may = visible(viewer, "c.channel_id");
  const rows = await db.query(
    sql(`${BYPASS} AND ${may.text} ORDER BY b.expires_at, b.id LIMIT 500`, now, ...may.args),
  );
  return objects<BypassRow>(rows);
}

/** One bypass in force. Rejects with `DbError`. */
export async function findBypass(db: Db, id: string, now: number): Promise<BypassRow | undefined> {
  return objects<BypassRow>(await db.query(sql(`${BYPASS} AND b.id = ?`, now, id)))[0];
}

/** Every profile by name. Rejects with `DbError`. */
export async function listProfiles(db: Db): Promise<ProfileRow[]> {
  const rows = await db.query(
    sql("SELECT id, name, brain, model, group_id, config, updated_at FROM profiles ORDER BY name, id"),
  );
  return objects<ProfileRow>(rows);
}

/** The profiles that conversations use. Rejects with `DbError`. */
export async function usedProfiles(db: Db): Promise<Set<string>> {
  const rows = await db.query(sql("SELECT DISTINCT profile FROM conversations"));
  return new Set(objects<{ profile: string }>(rows).map(({ profile }) => profile));
}

/** Every tool ever offered and every MCP server. Rejects with `DbError`. */
export async function listTools(db: Db): Promise<{ tools: ToolRow[]; servers: ServerRow[] }> {
  const [tools, servers] = await db.queryAll([
    sql(
      `SELECT name, source, class, description, parameters, schema_hash, hints, trusted, mode, available, first_seen, last_seen,
         changed_at
       FROM known_tools
       ORDER BY available DESC, name`,
    ),
    sql("SELECT name, state, detail, tools, unsandboxed, trusted, at FROM mcp_servers ORDER BY name"),
  ]);
  return {
    tools: tools ? objects<ToolRow>(tools) : [],
    servers: servers ? objects<ServerRow>(servers) : [],
  };
}
