/**
 * Reads of pending items in the shape of the HTTP API, with their conversation joined. A viewer's channels limit lists and single items alike.
 * Proven by `store/decide_test.ts`.
 */
import type { SealTo } from "../../lib/sealed.ts";
import { type Db, objects, sql } from "../db.ts";
import {
  COLUMNS,
  FROM,
  gateOf,
  type ItemRow,
  type ItemState,
  type ItemView,
  json,
  laterOf,
  type StoredQuestion,
  toItem,
} from "./_item_row.ts";
import { type Condition, type Viewer, visible } from "./access.ts";

export type { ItemState, ItemView } from "./_item_row.ts";

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

/** One item with its inner facts, or undefined. The caller asks `canSee`. Rejects with `DbError`. */
export async function findItem(db: Db, id: string): Promise<FoundItem | undefined> {
  const rows = await db.query(sql(`SELECT ${COLUMNS} FROM ${FROM} WHERE p.id = ?`, id));
  const row = objects<ItemRow>(rows)[0];
  if (!row) return undefined;
  const item = toItem(row, undefined);
  // `item.create` wrote it.
  const origin = (json(row.trace) as { readonly origin?: { readonly requestedBy?: Requester[] } } | undefined)
    ?.origin;
  return {
    item,
    decidedBy: row.decided_by,
    channelId: row.channel_id,
    askOnce: isAskOnce(item.described),
    twoPersons: item.twoPersons === true,
    barred: gateOf(row).requesterMayApprove ? [] : origin?.requestedBy ?? [],
    firstApprovedBy: item.firstApproval?.id,
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

/** How pressing an item is: what was handed on, then the riskiest; what carries no risk of its own comes with the lowest. */
const RANK =
  "(CASE WHEN p.escalated_at IS NULL THEN 3 ELSE 0 END + CASE p.risk WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END)";

/**
 * A page: of what waits, what was handed on first, then the riskiest, and among equals the oldest; everything else newest first. An `after` that no
 * page gave begins anew. Rejects with `DbError`.
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
  const [, rank, id = ""] = /^([0-5])\.(.+)$/.exec(after) ?? [];
  if (rank === undefined) return { text: "1", args: [] };
  return { text: `(${RANK}, p.id) > (?, ?)`, args: [Number(rank), id] };
}

function rankOf({ risk, escalated }: ItemView): number {
  return (escalated ? 0 : 3) + (risk === "high" ? 0 : risk === "medium" ? 1 : 2);
}

/** A user of ours, or a Zulip account by its number. */
interface Requester {
  readonly kind: "web" | "zulip";
  readonly id: string;
}

function isAskOnce(described: unknown): boolean {
  return typeof described === "object" && described !== null && "askOnce" in described &&
    described.askOnce === true;
}
