/**
 * What approval restores itself from: policy, people, tools, the end of the decisions chain, and everything that is still open. A rule row
 * that cannot be read makes `rules` null, and approval then asks for everything. Proven by `actors/approval/approval_test.ts`.
 */
import type { Hints } from "../../lib/policy/claims.ts";
import type { Bypass, Rule } from "../../lib/policy/rule.ts";
import { type ProfileBody, readProfileConfig } from "../../lib/profile.ts";
import { type Db, objects, sql } from "../db.ts";
import { DB_NOW } from "../lease.ts";
import { SESSION_UNTIL, TAKES_PUSH } from "../queries/people.ts";

/** An open item as stored; `described`, `trace` and `question` are parsed JSON. */
export interface LoadedItem {
  readonly id: string;
  readonly kind: "approval" | "question" | "elicitation";
  readonly state: "waiting" | "decided";
  readonly version: number;
  readonly conversation: string;
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string | null;
  readonly arguments: string | null;
  readonly described: unknown;
  readonly digest: string | null;
  readonly trace: unknown;
  readonly question: unknown;
  /** A `StoredDecision`, once decided. */
  readonly decision: unknown;
  readonly decidedBy: string | null;
  /** 1 when the edit of this very version was recorded in the chain, so that only the toolbox's description of it is awaited. */
  readonly editing: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A `StoredApproval`, when one of two people has allowed it. */
  readonly firstApproval: unknown;
  readonly cardMessageId: number | null;
  readonly cardWhole: number | null;
}

/** A tool as it was last known; `parameters` is a JSON Schema. */
export interface LoadedTool {
  readonly name: string;
  readonly source: string;
  readonly class: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly schemaHash: string;
  /** What its server says of it; counts only when `trusted`. */
  readonly hints?: Hints | undefined;
  /** The configuration trusts what the server says. */
  readonly trusted: boolean;
  /** What the configuration says of it. */
  readonly mode?: "prompt" | "approve" | undefined;
  /** When its server last changed the definition, milliseconds since the epoch. */
  readonly changedAt: number | null;
}

/** A tool that was ever offered, offered now or not. */
export interface SeenTool {
  readonly name: string;
  readonly schemaHash: string;
  readonly changedAt: number | null;
}

/** A user who may be linked to Zulip, with the channels in which they may approve. */
export interface LoadedUser {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "approver" | "viewer";
  readonly zulipUserId: number | null;
  readonly channels: readonly number[];
  /** When the last of their sessions ends unless it is used, milliseconds since the epoch; null: signed in nowhere; absent: not known. */
  readonly sessionUntil?: number | null | undefined;
  /** They have a device that takes push messages. */
  readonly takesPush?: boolean | undefined;
}

/** Everything approval starts from. */
export interface LoadedApproval {
  readonly rules: readonly Rule[] | null;
  /** Rules that can be read although others cannot, and the ids of those others: deleting these repairs policy. */
  readonly repair: { readonly readable: readonly Rule[]; readonly broken: readonly string[] };
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string | null;
  }[];
  readonly profiles: Readonly<Record<string, ProfileBody>>;
  /** Profiles of the conversations that are too many to be among `conversations`. */
  readonly olderProfiles: readonly string[];
  readonly bypasses: readonly Bypass[];
  readonly tools: readonly LoadedTool[];
  readonly seenTools: readonly SeenTool[];
  readonly items: readonly LoadedItem[];
  /** Calls that were let run and have not ended: call id → conversation. */
  readonly running: Readonly<Record<string, string>>;
  /** Calls withdrawn lately, whose `tool.judge` may still come. */
  readonly withdrawn: readonly { readonly callId: string; readonly conversation: string }[];
  /** The setting `suspended`. */
  readonly suspended: { readonly by: string; readonly at: number } | null;
  /**
   * While everything is suspended: calls that may run, in the order in which they were allowed. Some may have been sent before; those that can still be
   * taken back are not among them, since they come by themselves when their time is over.
   */
  readonly held: readonly {
    readonly callId: string;
    readonly conversation: string;
    readonly grant: unknown;
  }[];
  readonly head: { readonly seq: number; readonly hash: string } | null;
  readonly users: readonly LoadedUser[];
  /** The setting `zulip_approvers`: Zulip user ids, or `*` for everybody. */
  readonly zulipApprovers: readonly number[] | "*";
  readonly conversations: Readonly<Record<string, LoadedConversation>>;
  /** Parked conversation → the item that says so. */
  readonly restarts: Readonly<Record<string, string>>;
  /** The setting `gate`, parsed; null when it was never set. */
  readonly gate: unknown;
  /** Bypasses that a new lease of the supervisor ended. */
  readonly lapsed: readonly Bypass[];
  /** Allowed calls that have not begun and can be taken back until then, milliseconds since the epoch. */
  readonly undoable: readonly {
    readonly itemId: string;
    readonly callId: string;
    readonly conversation: string;
    readonly until: number;
  }[];
  /** The latest entries of the decisions log about calls, oldest first; `agent` is the conversation's profile. */
  readonly recent: readonly {
    readonly at: number;
    readonly kind: string;
    readonly decision: string;
    readonly conversation: string;
    readonly tool: string;
    readonly agent: string | null;
  }[];
}

/** What approval needs of a conversation that was there at its start. */
export interface LoadedConversation {
  readonly profile: string;
  readonly source: "web" | "channel" | "dm";
  readonly channelId: number | null;
}

/** Conversations beyond this many are judged by what the toolbox says of them. */
const MAX_CONVERSATIONS = 5_000;
const WITHDRAWN_FOR_MS = 600_000;
/** A bypass's own alarm may ring late, but not by days. */
const LAPSED_FOR_MS = 7 * 86_400_000;
/** How far back the brakes look, and in how many entries at most. */
const RECENT_MS = 600_000;
const MAX_RECENT = 5_000;

const queries = [
  sql(
    `SELECT id, group_id, layer, ordinal, priority, action, tool_pattern, path_pattern, argv_prefix, agent, source, expires_at, max_uses,
    uses, note, updated_at FROM rules ORDER BY group_id, layer, priority, ordinal`,
  ),
  sql("SELECT id, name, description FROM rule_groups"),
  sql("SELECT id, name, group_id AS groupId, model, config FROM profiles"),
  sql(
    `SELECT id, conversation, scope, pattern, uses, expires_at AS expiresAt, created_at AS since FROM bypasses
    WHERE ended_at IS NULL`,
  ),
  sql(
    `SELECT name, source, class, description, parameters, schema_hash AS schemaHash, hints, trusted, mode, changed_at AS changedAt FROM known_tools
    WHERE available = 1 ORDER BY name`,
  ),
  sql(
    `SELECT id, kind, state, version, conversation, turn_id AS turnId, call_id AS callId, tool, arguments, described, digest, trace,
    question, decision, decided_by AS decidedBy, card_message_id AS cardMessageId, created_at AS createdAt,
    COALESCE(expires_at, created_at) AS expiresAt, first_approval AS firstApproval, card_whole AS cardWhole,
    CASE WHEN state = 'decided' AND json_extract(decision, '$.decision') = 'edit_and_allow' THEN EXISTS (
      SELECT 1 FROM decisions d WHERE d.item_id = pending_items.id AND d.decision = 'edit_and_allow'
        AND json_extract(d.body, '$.version') = pending_items.version - 1) END AS editing FROM pending_items
    WHERE state IN ('waiting', 'decided') AND kind <> 'restart' ORDER BY created_at`,
  ),
  sql("SELECT id, conversation FROM tool_calls WHERE state IN ('judged', 'decided', 'executing')"),
  sql(
    `SELECT payload, from_ref FROM messages WHERE state = 'done' AND done_at > ${DB_NOW} - ? AND to_ref = 'approval' AND type = 'tool.cancel'`,
    WITHDRAWN_FOR_MS,
  ),
  sql("SELECT seq, hash FROM decisions ORDER BY seq DESC LIMIT 1"),
  sql(
    `SELECT id, name, role, zulip_user_id AS zulipUserId, ${SESSION_UNTIL} AS sessionUntil, ${TAKES_PUSH} AS takesPush FROM users ORDER BY created_at, id`,
  ),
  sql("SELECT user_id AS userId, channel_id AS channelId FROM entitlements WHERE access = 'approve'"),
  sql("SELECT value FROM settings WHERE key = 'zulip_approvers'"),
  sql(
    "SELECT id, profile, source, channel_id AS channelId FROM conversations ORDER BY updated_at DESC LIMIT ?",
    MAX_CONVERSATIONS,
  ),
  sql("SELECT value FROM settings WHERE key = 'suspended'"),
  sql(
    `SELECT id AS callId, conversation, grant_json AS "grant" FROM tool_calls WHERE state IN ('judged', 'decided')
    AND grant_json IS NOT NULL AND EXISTS (SELECT 1 FROM settings WHERE key = 'suspended') AND NOT EXISTS (
      SELECT 1 FROM pending_items p WHERE p.call_id = tool_calls.id AND json_extract(p.decision, '$.undoUntil') > ${DB_NOW})
    ORDER BY updated_at, id`,
  ),
  sql("SELECT name, schema_hash AS schemaHash, changed_at AS changedAt FROM known_tools"),
  sql("SELECT value FROM settings WHERE key = 'gate'"),
  sql("SELECT conversation, id FROM pending_items WHERE kind = 'restart' AND state = 'waiting'"),
  sql(
    `SELECT id, conversation, scope, pattern, uses, expires_at AS expiresAt, created_at AS since FROM bypasses
    WHERE ended_reason = 'restart' AND expires_at > ${DB_NOW} - ?`,
    LAPSED_FOR_MS,
  ),
  sql(
    `SELECT p.id AS itemId, p.call_id AS callId, p.conversation, json_extract(p.decision, '$.undoUntil') AS until
    FROM tool_calls c JOIN pending_items p ON p.call_id = c.id
    WHERE c.state = 'decided' AND p.state = 'applied' AND json_extract(p.decision, '$.undoUntil') > ${DB_NOW}`,
  ),
  sql(
    `SELECT d.at, d.kind, d.decision, d.conversation, c.tool, v.profile AS agent FROM decisions d
    JOIN tool_calls c ON c.id = d.call_id LEFT JOIN conversations v ON v.id = d.conversation LEFT JOIN pending_items p ON p.id = d.item_id
    WHERE COALESCE(p.kind, 'approval') = 'approval' AND d.seq > (SELECT COALESCE(MAX(seq), 0) - ? FROM decisions) AND d.at > ${DB_NOW} - ? AND d.conversation IS NOT NULL ORDER BY d.seq`,
    MAX_RECENT,
    RECENT_MS,
  ),
  sql(
    "SELECT DISTINCT profile FROM (SELECT profile FROM conversations ORDER BY updated_at DESC LIMIT -1 OFFSET ?)",
    MAX_CONVERSATIONS,
  ),
];

/** Gives a `LoadedApproval`. */
export async function loadApproval(db: Db): Promise<LoadedApproval> {
  const results = await db.queryAll(queries);
  const table = <T>(index: number): T[] => {
    const rows = results[index];
    if (!rows) throw new Error("the database answered fewer queries than were asked");
    return objects<T>(rows);
  };
  const entitlements = table<{ userId: string; channelId: number }>(10);
  return {
    ...readRules(table<RuleRow>(0)),
    groups: table<LoadedApproval["groups"][number]>(1),
    profiles: Object.fromEntries(
      table<Pick<ProfileBody, "name" | "groupId" | "model"> & { id: string; config: string }>(2)
        .map(({ id, config, ...row }) => [id, { ...row, ...readProfileConfig(config) }]),
    ),
    olderProfiles: table<{ profile: string }>(21).map(({ profile }) => profile),
    bypasses: table<Bypass>(3),
    tools: table<ToolRow>(4).map(({ hints, mode, ...row }) => ({
      ...row,
      parameters: JSON.parse(row.parameters),
      trusted: row.trusted === 1,
      ...(hints === null ? {} : { hints: JSON.parse(hints) }),
      ...(mode === null ? {} : { mode }),
    })),
    seenTools: table<SeenTool>(15),
    restarts: Object.fromEntries(
      table<{ conversation: string; id: string }>(17).map((row) => [row.conversation, row.id]),
    ),
    lapsed: table<Bypass>(18),
    undoable: table<LoadedApproval["undoable"][number]>(19),
    recent: table<LoadedApproval["recent"][number]>(20),
    gate: readJson(table<{ value: string }>(16)[0]?.value),
    items: table<ItemRow>(5).map((row) => ({
      ...row,
      described: parsed(row.described),
      trace: parsed(row.trace),
      question: parsed(row.question),
      decision: parsed(row.decision),
      firstApproval: parsed(row.firstApproval),
    })),
    running: Object.fromEntries(
      table<{ id: string; conversation: string }>(6).map((row) => [row.id, row.conversation]),
    ),
    withdrawn: table<{ payload: string; from_ref: string }>(7).map((row) => ({
      callId: String(JSON.parse(row.payload).callId),
      conversation: row.from_ref.slice("conversation/".length),
    })),
    suspended: parsed(table<{ value: string }>(13)[0]?.value ?? null) as LoadedApproval["suspended"], // the op's own JSON
    held: table<{ callId: string; conversation: string; grant: string }>(14)
      .map((row) => ({ ...row, grant: parsed(row.grant) })),
    head: table<{ seq: number; hash: string }>(8)[0] ?? null,
    users: table<Omit<LoadedUser, "channels" | "takesPush"> & { takesPush: number }>(9).map((
      { takesPush, ...user },
    ) => ({
      ...user,
      ...(takesPush === 1 ? { takesPush: true } : {}),
      channels: entitlements.filter((row) => row.userId === user.id).map((row) => row.channelId),
    })),
    zulipApprovers: readApprovers(table<{ value: string }>(11)[0]?.value),
    conversations: Object.fromEntries(
      table<LoadedConversation & { id: string }>(12).map(({ id, ...facts }) => [id, facts]),
    ),
  };
}

type ItemRow = Omit<LoadedItem, "described" | "trace" | "question" | "decision" | "firstApproval"> & {
  readonly firstApproval: string | null;
  readonly described: string | null;
  readonly trace: string | null;
  readonly question: string | null;
  readonly decision: string | null;
};

type ToolRow = Omit<LoadedTool, "parameters" | "hints" | "trusted" | "mode"> & {
  readonly parameters: string;
  readonly hints: string | null;
  readonly trusted: number;
  readonly mode: "prompt" | "approve" | null;
};

/** JSON, or null when it is none. */
function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

interface RuleRow {
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
  readonly expires_at: number | null;
  readonly max_uses: number | null;
  readonly uses: number;
  readonly note: string | null;
  readonly updated_at: number;
}

/** All rules, or null when one of them cannot be read: half a policy is none. */
function readRules(rows: readonly RuleRow[]): Pick<LoadedApproval, "rules" | "repair"> {
  const rules = rows.map((row) => {
    const argvPrefix = row.argv_prefix === null ? null : readWords(row.argv_prefix);
    return argvPrefix === undefined ? undefined : {
      id: row.id,
      groupId: row.group_id,
      layer: row.layer,
      ordinal: row.ordinal,
      priority: row.priority,
      action: row.action,
      toolPattern: row.tool_pattern,
      pathPattern: row.path_pattern,
      argvPrefix,
      agent: row.agent,
      source: row.source,
      expiresAt: row.expires_at,
      maxUses: row.max_uses,
      uses: row.uses,
      note: row.note,
      since: row.updated_at,
    };
  });
  const readable = rules.filter((rule) => rule !== undefined);
  const broken = rows.filter((_, index) => rules[index] === undefined).map((row) => row.id);
  return { rules: broken.length === 0 ? readable : null, repair: { readable, broken } };
}

function readWords(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((word) => typeof word === "string") ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The setting is JSON: an array of Zulip user ids, or `"*"`. Anything else names nobody. */
function readApprovers(text: string | undefined): readonly number[] | "*" {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (value === "*") return "*";
    return Array.isArray(value) ? value.filter((id) => Number.isInteger(id)) : [];
  } catch {
    return [];
  }
}
