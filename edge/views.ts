/**
 * Rows as the API shows them. JSON columns are parsed here; what cannot be read is left out rather than passed on. Proven by the routes' tests.
 */
import * as z from "zod";
import type { ActorRow } from "../store/queries/actors.ts";
import type { DecisionRow } from "../store/queries/audit.ts";
import type { AuditNames } from "../store/queries/audit_names.ts";
import type { ConversationRow, EventRow } from "../store/queries/conversations.ts";
import type { BypassRow, ProfileRow, RuleRow, ServerRow, ToolRow } from "../store/queries/policy.ts";
import type { ScheduleRow } from "../store/queries/schedules.ts";
import { type ProfileBody, readProfileConfig } from "../lib/profile.ts";
import {
  type ActorView,
  type AuditEntry,
  type AuditShown,
  type BypassView,
  type ConversationEvent,
  type ConversationSummary,
  DownReason,
  type McpServerView,
  type ProfileView,
  type RuleView,
  ScheduleSpecView,
  type ScheduleView,
  type ToolView,
} from "./api.ts";

/** JSON text as a value; undefined for what is absent or no JSON. */
export function fromJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `{ name: value }`, or nothing when the value is null or undefined: the API leaves out what is not there. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | null | undefined,
): { [K in Name]?: Value } {
  // A computed key widens to an index signature; the one member is exactly this.
  return (value === null || value === undefined ? {} : { [name]: value }) as { [K in Name]?: Value };
}

/** A conversation in a list. */
export function conversationView(row: ConversationRow): ConversationSummary {
  return {
    id: row.id,
    title: row.title,
    source: row.source,
    ...given("channelId", row.channel_id),
    ...given("topic", row.topic),
    profile: row.profile,
    ...given("model", row.model),
    status: row.status,
    turns: row.turns,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
    ...given("preview", row.preview),
    waiting: row.waiting,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** One event of a transcript. */
export function eventView(row: EventRow): ConversationEvent {
  return { seq: row.seq, type: row.type, at: row.at, payload: fromJson(row.payload) ?? null };
}

/** An actor by its rows: whether it is live only its supervisor knows. */
export function actorView(row: ActorRow, now: number): ActorView {
  const reason = DownReason.safeParse(row.down_reason).data;
  const lastDown = reason === undefined || row.down_at === null
    ? undefined
    : { reason, at: row.down_at, ...given("detail", row.down_detail) };
  return {
    ref: row.ref,
    kind: row.kind,
    state: row.parked_at === null ? "sleeping" : "parked",
    incarnation: row.incarnation,
    mailbox: {
      control: row.control,
      normal: row.normal,
      oldestMs: row.oldest_at === null ? 0 : Math.max(0, now - row.oldest_at),
    },
    restarts: row.restarts,
    ...given("lastDown", lastDown),
    ...given("parkedReason", row.parked_reason),
    ...given("title", row.title),
  };
}

/** A rule. */
export function ruleView(row: RuleRow): RuleView {
  return {
    id: row.id,
    groupId: row.group_id,
    layer: row.layer,
    ordinal: row.ordinal,
    priority: row.priority,
    action: row.action,
    toolPattern: row.tool_pattern,
    pathPattern: row.path_pattern,
    argvPrefix: z.array(z.string()).safeParse(fromJson(row.argv_prefix)).data ?? null,
    agent: row.agent,
    source: row.source,
    note: row.note,
    expiresAt: row.expires_at,
    maxUses: row.max_uses,
    uses: row.uses,
    lastUsedAt: row.last_used_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** A bypass in force. */
export function bypassView(row: BypassRow): BypassView {
  return {
    id: row.id,
    conversation: { id: row.conversation, title: row.title ?? "" },
    scope: row.scope,
    pattern: row.pattern,
    grantedBy: row.granted_by,
    surface: row.surface,
    uses: row.uses,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** What a person has written into a profile. */
export function profileOf({ name, group_id: groupId, model, config }: ProfileRow): ProfileBody {
  return { name, groupId, model, ...readProfileConfig(config) };
}

/** A profile. */
export function profileView(row: ProfileRow, isUsed: boolean): ProfileView {
  return { id: row.id, ...profileOf(row), brain: row.brain, isUsed, updatedAt: row.updated_at };
}

/** A tool that was ever offered. */
export function toolView(row: ToolRow): ToolView {
  return {
    name: row.name,
    source: row.source,
    class: row.class,
    description: row.description,
    parameters: fromJson(row.parameters) ?? null,
    schemaHash: row.schema_hash,
    ...given("hints", row.hints === null ? undefined : fromJson(row.hints) as ToolView["hints"]), // `tools.store` wrote it
    trusted: row.trusted === 1,
    ...given("mode", row.mode),
    available: row.available === 1,
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
  };
}

/** An MCP server. */
export function serverView(row: ServerRow): McpServerView {
  return {
    name: row.name,
    state: row.state,
    ...given("detail", row.detail),
    tools: row.tools,
    unsandboxed: row.unsandboxed === 1,
    trusted: row.trusted === 1,
    at: row.at,
  };
}

/** A schedule; undefined when its spec is of a kind that this version does not know. */
export function scheduleView(row: ScheduleRow): ScheduleView | undefined {
  const spec = ScheduleSpecView.safeParse(fromJson(row.spec));
  if (!spec.success) return undefined;
  return {
    id: row.id,
    conversation: { id: row.conversation, title: row.title ?? "" },
    key: row.key,
    spec: spec.data,
    prompt: row.prompt,
    timeZone: row.time_zone,
    enabled: row.enabled === 1,
    nextAt: row.next_at,
    lastAt: row.last_at,
    createdBy: row.created_by,
  };
}

/** An entry of the decisions chain. */
export function auditView(row: DecisionRow): AuditEntry {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    ...given("itemId", row.item_id),
    ...given("callId", row.call_id),
    ...given("conversation", row.conversation),
    actor: row.actor,
    surface: row.surface,
    ...given("device", row.device),
    decision: row.decision,
    ...given("digest", row.digest),
    body: fromJson(row.body) ?? null,
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

const Summary = z.object({ summary: z.string() });

/** What an entry's ids stand for. */
export function shownView(row: DecisionRow, names: AuditNames): AuditShown {
  const call = names.calls.get(row.call_id ?? "");
  const described = Summary.safeParse(fromJson(call?.described ?? null)).data;
  return {
    ...given("who", names.people.get(row.actor)),
    ...given("tool", call?.tool),
    ...given("summary", described?.summary ?? names.questions.get(row.item_id ?? "")),
    ...given("title", names.titles.get(row.conversation ?? "")),
  };
}
