/**
 * Reads of pending items in the shape of the HTTP API, with their conversation joined. A viewer's channels limit lists and single items alike.
 * Proven by `store/decide_test.ts`.
 */
import type { DecisionKind, ItemKind } from "../../lib/decision_kind.ts";
import { gateDefaults, needsTwo } from "../../lib/gate_settings.ts";
import type { ToolFacts } from "../../lib/policy/tool_pattern.ts";
import type { SealTo } from "../../lib/sealed.ts";
import { type Db, objects, sql } from "../db.ts";
import type { StoredApproval, StoredDecision } from "../ops/items.ts";
import { TITLE } from "./conversations.ts";
import { type Condition, type Viewer, visible } from "./access.ts";

/** The life of an item. */
export type ItemState = "waiting" | "decided" | "applied" | "failed" | "expired" | "superseded" | "cancelled";

/** An item as people see it (design §13). Times are milliseconds since the epoch; JSON columns are parsed. */
export interface ItemView {
  readonly id: string;
  readonly kind: ItemKind;
  readonly state: ItemState;
  readonly version: number;
  /** `source`: `web`, `channel` or `dm`. */
  readonly conversation: { readonly id: string; readonly title: string; readonly source: string };
  readonly turnId?: string;
  readonly callId?: string;
  readonly tool?: string;
  /** What began the turn that asks; absent for what no call asks for. */
  readonly trigger?: "person" | "schedule";
  /** Parsed; absent when it is no JSON. */
  readonly arguments?: unknown;
  /** As the toolbox described it. */
  readonly described?: unknown;
  readonly digest?: string;
  readonly risk?: "low" | "medium" | "high";
  readonly trace?: readonly { readonly step: string; readonly outcome: string; readonly ref?: string }[];
  readonly question?: string;
  readonly suggestions?: readonly string[];
  /** The answer is a secret. */
  readonly secret?: true;
  /** Which MCP server asks, with the shapes of `QuestionRaise`: what is to be filled in, or the page to open. */
  readonly asker?: unknown;
  readonly form?: unknown;
  readonly link?: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt?: number;
  readonly laterUntil?: number;
  readonly deliveredAt?: number;
  readonly seenAt?: number;
  readonly delegatedTo?: { readonly id: string; readonly name: string };
  /** Nobody decided in time, so that it was handed on, the `round`-th time at `at`. */
  readonly escalated?: { readonly at: number; readonly round: number };
  readonly firstApproval?: { readonly by: string; readonly at: number };
  readonly decision?: Omit<StoredDecision, "decision"> & {
    readonly decision: DecisionKind;
    readonly at: number;
    readonly note?: string;
  };
  readonly note?: string;
  /** Its call was allowed and may have run: nobody knows. */
  readonly unknownOutcome?: true;
}

/** An item with what the compare-and-set needs and people do not see. */
export interface FoundItem {
  readonly item: ItemView;
  /** The identity of who decided. */
  readonly decidedBy: string | null;
  /** The channel in which the conversation stands, if it stands in one. */
  readonly channelId: number | null;
  /** Only *once* may be given. */
  readonly askOnce: boolean;
  /** Two people must allow it, by the settings of this moment. */
  readonly twoPersons: boolean;
  /** Whose words led to it, where the settings leave its allowance to others; else nobody. */
  readonly barred: readonly Requester[];
  /** The identity of who has allowed it, where two must. */
  readonly firstApprovedBy: string | undefined;
  /** Where an answer is to be sealed to, when it is a secret. */
  readonly sealTo: SealTo | undefined;
  /** Until when each person has put it off; `item` itself says it of nobody. */
  readonly later: Readonly<Record<string, number>>;
}

/** Which items to list. */
export interface ItemQuery {
  readonly viewer: Viewer;
  /** Absent: every state. */
  readonly state?: ItemState | undefined;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/** A page of items; `total` counts all that the viewer may see in that state. */
export interface ItemPage {
  readonly items: readonly ItemView[];
  readonly total: number;
  readonly next?: string;
}

const COLUMNS =
  `p.id, p.kind, p.state, p.version, p.conversation, p.turn_id, p.call_id, p.tool, p.arguments, p.described, p.digest, p.risk,
  p.trace, p.question, p.decision, p.note, p.delivered_at, p.seen_at, p.decided_at, p.decided_by, p.created_at, p.updated_at,
  p.expires_at, p.delegated_to, p.first_approval, p.escalated_at, p.escalation, ${TITLE}, c.source, c.channel_id, u.name AS delegate, k.triggered_by,
  k.outcome AS call_outcome,
  (SELECT json_group_object(l.user_id, l.until) FROM item_later l WHERE l.item_id = p.id) AS later`;
const FROM =
  `pending_items p LEFT JOIN conversations c ON c.id = p.conversation LEFT JOIN topics t ON t.conversation = c.id
  LEFT JOIN users u ON u.id = p.delegated_to LEFT JOIN tool_calls k ON k.id = p.call_id`;

/** One item with its inner facts, or undefined. The caller asks `canSee`. Rejects with `DbError`. */
export async function findItem(db: Db, id: string): Promise<FoundItem | undefined> {
  const rows = await db.query(
    sql(
      `SELECT ${COLUMNS}, (SELECT value FROM settings WHERE key = 'gate') AS gate FROM ${FROM} WHERE p.id = ?`,
      id,
    ),
  );
  const row = objects<ItemRow & { readonly gate: string | null }>(rows)[0];
  if (!row) return undefined;
  const item = toItem(row, undefined);
  // `gate.store` and `item.create` wrote them.
  const gate = { ...gateDefaults, ...(json(row.gate) as Partial<Gate> | undefined) };
  const origin = (json(row.trace) as { readonly origin?: { readonly requestedBy?: Requester[] } } | undefined)
    ?.origin;
  const first = json(row.first_approval) as StoredApproval | undefined; // `item.reopen` wrote it
  return {
    item,
    decidedBy: row.decided_by,
    channelId: row.channel_id,
    askOnce: isAskOnce(item.described),
    twoPersons: item.kind === "approval" && needsTwo(gate, factsOf(item)),
    barred: gate.requesterMayApprove ? [] : origin?.requestedBy ?? [],
    firstApprovedBy: first?.identity,
    later: laterOf(row),
    sealTo: (json(row.question) as StoredQuestion | undefined)?.sealTo, // `item.create` wrote it
  };
}

/** One item that the viewer may see, or undefined. Rejects with `DbError`. */
export async function getItem(db: Db, id: string, viewer: Viewer): Promise<ItemView | undefined> {
  const seen = visible(viewer, "c.channel_id");
  const rows = await db.query(
    sql(`SELECT ${COLUMNS} FROM ${FROM} WHERE p.id = ? AND ${seen.text}`, id, ...seen.args),
  );
  const row = objects<ItemRow>(rows)[0];
  return row && toItem(row, viewer.userId);
}

/** How pressing an item is: the riskiest first; what carries no risk of its own comes with the lowest. */
const RANK = "CASE p.risk WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END";

/**
 * A page: what waits riskiest first and among equals oldest first, everything else newest first. An `after` that no page gave begins anew. Rejects
 * with `DbError`.
 */
export async function listItems(db: Db, query: ItemQuery): Promise<ItemPage> {
  const seen = visible(query.viewer, "c.channel_id");
  const isWaiting = query.state === "waiting";
  const inState = query.state === undefined ? "1" : "p.state = ?";
  const state = query.state === undefined ? [] : [query.state];
  const after = afterOf(query.after, isWaiting);
  const [page, count] = await db.queryAll([
    sql(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE ${inState} AND ${seen.text} AND ${after.text}
       ORDER BY ${isWaiting ? `${RANK}, p.id ASC` : "p.id DESC"} LIMIT ?`,
      ...state,
      ...seen.args,
      ...after.args,
      query.limit + 1,
    ),
    sql(`SELECT count(*) AS total FROM ${FROM} WHERE ${inState} AND ${seen.text}`, ...state, ...seen.args),
  ]);
  if (!page || !count) throw new Error("the database answered fewer queries than were asked");
  const rows = objects<ItemRow>(page);
  const items = rows.slice(0, query.limit).map((row) => toItem(row, query.viewer.userId));
  const last = rows.length > query.limit ? items.at(-1) : undefined;
  return {
    items,
    total: objects<{ total: number }>(count)[0]?.total ?? 0,
    ...(last ? { next: isWaiting ? `${rankOf(last)}.${last.id}` : last.id } : {}),
  };
}

/** What comes behind a page: among what waits, `rank.id`; else an id. */
function afterOf(after: string | undefined, isWaiting: boolean): Condition {
  if (after === undefined) return { text: "1", args: [] };
  if (!isWaiting) return { text: "p.id < ?", args: [after] };
  const [, rank, id = ""] = /^([0-2])\.(.+)$/.exec(after) ?? [];
  if (rank === undefined) return { text: "1", args: [] };
  return { text: `(${RANK}, p.id) > (?, ?)`, args: [Number(rank), id] };
}

function rankOf({ risk }: ItemView): number {
  return risk === "high" ? 0 : risk === "medium" ? 1 : 2;
}

/** What of the gate's settings the compare-and-set looks at. */
interface Gate {
  readonly twoPersons: readonly string[];
  readonly requesterMayApprove: boolean;
}

/** A user of ours, or a Zulip account by its number. */
interface Requester {
  readonly kind: "web" | "zulip";
  readonly id: string;
}

interface StoredQuestion {
  readonly text: string;
  readonly suggestions: string[];
  readonly sealTo?: SealTo;
  readonly asker?: unknown;
  readonly form?: unknown;
  readonly link?: unknown;
}

interface ItemRow {
  readonly id: string;
  readonly kind: ItemKind;
  readonly state: ItemState;
  readonly version: number;
  readonly conversation: string;
  readonly turn_id: string | null;
  readonly call_id: string | null;
  readonly tool: string | null;
  readonly arguments: string | null;
  readonly described: string | null;
  readonly digest: string | null;
  readonly risk: "low" | "medium" | "high" | null;
  readonly trace: string | null;
  readonly question: string | null;
  readonly decision: string | null;
  readonly note: string | null;
  readonly delivered_at: number | null;
  readonly seen_at: number | null;
  readonly decided_at: number | null;
  readonly decided_by: string | null;
  /** JSON: person → until when they put it off. */
  readonly later: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number | null;
  readonly delegated_to: string | null;
  readonly first_approval: string | null;
  readonly escalated_at: number | null;
  readonly escalation: number | null;
  readonly delegate: string | null;
  readonly title: string | null;
  readonly source: string | null;
  readonly channel_id: number | null;
  readonly call_outcome: string | null;
  readonly triggered_by: "person" | "schedule" | null;
}

/** `viewerId`: whose own marks are shown. */
function toItem(row: ItemRow, viewerId: string | undefined): ItemView {
  // These columns hold what `store/ops/items.ts` wrote.
  const question = json(row.question) as StoredQuestion | undefined;
  const trace = json(row.trace) as { steps: NonNullable<ItemView["trace"]> } | undefined;
  const decision = json(row.decision) as StoredDecision & { decision: DecisionKind } | undefined;
  const first = json(row.first_approval) as StoredApproval | undefined;
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    version: row.version,
    conversation: { id: row.conversation, title: row.title ?? "", source: row.source ?? "web" },
    ...given("turnId", row.turn_id),
    ...given("callId", row.call_id),
    ...given("tool", row.tool),
    ...given("trigger", row.triggered_by),
    ...given("arguments", json(row.arguments)),
    ...given("described", json(row.described)),
    ...given("digest", row.digest),
    ...given("risk", row.risk),
    ...given("trace", trace?.steps),
    ...given("question", question?.text),
    ...given("suggestions", question?.suggestions),
    ...given("secret", question?.sealTo && true as const),
    ...given("asker", question?.asker),
    ...given("form", question?.form),
    ...given("link", question?.link),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...given("expiresAt", row.expires_at),
    ...given("laterUntil", viewerId === undefined ? undefined : laterOf(row)[viewerId]),
    ...given("deliveredAt", row.delivered_at),
    ...given("seenAt", row.seen_at),
    ...given("note", row.note),
    ...given(
      "unknownOutcome",
      row.kind === "approval" && row.call_outcome === "unknown" ? true as const : undefined,
    ),
    ...given(
      "delegatedTo",
      row.delegated_to === null
        ? undefined
        : { id: row.delegated_to, name: row.delegate ?? row.delegated_to },
    ),
    ...given(
      "escalated",
      row.escalated_at === null ? undefined : { at: row.escalated_at, round: row.escalation ?? 1 },
    ),
    ...given("firstApproval", first && { by: first.by, at: first.at }),
    ...given("decision", decision && { ...decision, at: row.decided_at ?? row.updated_at }),
  };
}

function laterOf(row: ItemRow): Readonly<Record<string, number>> {
  return JSON.parse(row.later) as Record<string, number>; // the query's own aggregate
}

/** A member only when there is something to say, as `exactOptionalPropertyTypes` wants it. */
function given<Name extends string, Value>(
  name: Name,
  value: Value | null | undefined,
): { readonly [N in Name]?: Value } {
  if (value === null || value === undefined) return {};
  return { [name]: value } as { readonly [N in Name]?: Value }; // the computed name is exactly `Name`
}

/** Arguments are a model's words and may be no JSON. */
function json(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function factsOf({ tool, described }: ItemView): ToolFacts {
  // The toolbox described it.
  return { tool: tool ?? "", class: (described as Pick<ToolFacts, "class"> | undefined)?.class ?? "exec" };
}

function isAskOnce(described: unknown): boolean {
  return typeof described === "object" && described !== null && "askOnce" in described &&
    described.askOnce === true;
}
