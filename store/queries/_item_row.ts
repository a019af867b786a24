/**
 * A row of `pending_items` with what is joined to it, and the item that it makes. Proven by `store/decide_test.ts`.
 */
import type { DecisionKind, ItemKind } from "../../lib/decision_kind.ts";
import { gateDefaults, needsTwo } from "../../lib/gate_settings.ts";
import type { ToolFacts } from "../../lib/policy/tool_pattern.ts";
import type { SealTo } from "../../lib/sealed.ts";
import type { StoredApproval, StoredDecision } from "../ops/items.ts";
import { TITLE } from "./conversations.ts";

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
  /** Two people must allow it, by the settings of this moment. */
  readonly twoPersons?: true;
  readonly firstApproval?: { readonly id: string; readonly by: string; readonly at: number };
  readonly decision?: Omit<StoredDecision, "decision"> & {
    readonly decision: DecisionKind;
    readonly at: number;
    readonly note?: string;
  };
  readonly note?: string;
  /** Its call was allowed and may have run: nobody knows. */
  readonly unknownOutcome?: true;
}

/** The columns of a row, and where they come from: `p` is the item, `c` its conversation, `t` that one's topic, `k` the call. */
export const COLUMNS =
  `p.id, p.kind, p.state, p.version, p.conversation, p.turn_id, p.call_id, p.tool, p.arguments, p.described, p.digest, p.risk,
  p.trace, p.question, p.decision, p.note, p.delivered_at, p.seen_at, p.decided_at, p.decided_by, p.created_at, p.updated_at,
  p.expires_at, p.delegated_to, p.first_approval, p.escalated_at, p.escalation, ${TITLE}, c.source, c.channel_id, u.name AS delegate, k.triggered_by,
  k.outcome AS call_outcome,
  (SELECT json_group_object(l.user_id, l.until) FROM item_later l WHERE l.item_id = p.id) AS later,
  (SELECT value FROM settings WHERE key = 'gate') AS gate,
  (SELECT hints FROM known_tools WHERE name = p.tool AND trusted = 1) AS trusted_hints`;
export const FROM =
  `pending_items p LEFT JOIN conversations c ON c.id = p.conversation LEFT JOIN topics t ON t.conversation = c.id
  LEFT JOIN users u ON u.id = p.delegated_to LEFT JOIN tool_calls k ON k.id = p.call_id`;

/** What `item.create` wrote. */
export interface StoredQuestion {
  readonly text: string;
  readonly suggestions: string[];
  readonly sealTo?: SealTo;
  readonly asker?: unknown;
  readonly form?: unknown;
  readonly link?: unknown;
}

/** As the query gives it. */
export interface ItemRow {
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
  /** The gate's settings, JSON. */
  readonly gate: string | null;
  /** What a trusted server says of the tool, JSON. */
  readonly trusted_hints: string | null;
}

/** What of the gate's settings decides about an item. */
interface Gate {
  readonly twoPersons: readonly string[];
  readonly requesterMayApprove: boolean;
}

/** The settings that a row brought along. */
export function gateOf({ gate }: ItemRow): Gate {
  return { ...gateDefaults, ...(json(gate) as Partial<Gate> | undefined) }; // `gate.store` wrote them
}

/** `viewerId`: whose own marks are shown. */
export function toItem(row: ItemRow, viewerId: string | undefined): ItemView {
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
    ...given("twoPersons", isForTwo(row) ? true as const : undefined),
    ...given("firstApproval", first && { id: first.identity, by: first.by, at: first.at }),
    ...given("decision", decision && { ...decision, at: row.decided_at ?? row.updated_at }),
  };
}

function isForTwo(row: ItemRow): boolean {
  if (row.kind !== "approval") return false;
  const described = json(row.described) as Pick<ToolFacts, "class"> | undefined; // as the toolbox described it
  const hints = json(row.trusted_hints) as ToolFacts["hints"]; // `tools.store` wrote them
  return needsTwo(gateOf(row), { tool: row.tool ?? "", class: described?.class ?? "exec", hints });
}

/** Who has put it off, and until when. */
export function laterOf(row: ItemRow): Readonly<Record<string, number>> {
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
export function json(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
