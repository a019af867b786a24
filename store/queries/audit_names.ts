/**
 * What the ids in entries of the decisions chain stand for today: people, calls and chats by the names that a person knows. The chain itself holds ids,
 * which no later change of a name can move. Proven by `edge/inbox_test.ts`.
 */
import { type Db, objects, type Rows, sql } from "../db.ts";
import type { DecisionRow } from "./audit.ts";
import { TITLE } from "./conversations.ts";

/** Names by id; what is gone or has none is missing. */
export interface AuditNames {
  /** By the entry's `actor`. */
  readonly people: ReadonlyMap<string, string>;
  readonly calls: ReadonlyMap<string, NamedCall>;
  /** The questions of items, by the item's id. */
  readonly questions: ReadonlyMap<string, string>;
  readonly titles: ReadonlyMap<string, string>;
}

/** A call as it was described; `described` is JSON text. */
export interface NamedCall {
  readonly tool: string;
  readonly described: string | null;
}

const NONE: Rows = { columns: [], rows: [], rowsAffected: 0 };

type Named = { readonly id: string; readonly name: string };

/** The names behind some entries. Rejects with `DbError`. */
export async function auditNames(db: Db, entries: readonly DecisionRow[]): Promise<AuditNames> {
  const [people = NONE, calls = NONE, questions = NONE, titles = NONE] = await db.queryAll([
    sql(
      `SELECT id, name FROM users WHERE id IN (${IDS}) UNION ALL
       SELECT 'zulip:' || zulip_user_id, name FROM users WHERE 'zulip:' || zulip_user_id IN (${IDS})`,
      ...twice(idsOf(entries, "actor")),
    ),
    sql(`SELECT id, tool, described FROM tool_calls WHERE id IN (${IDS})`, idsOf(entries, "call_id")),
    sql(
      `SELECT id, question AS name FROM pending_items WHERE question IS NOT NULL AND id IN (${IDS})`,
      idsOf(entries, "item_id"),
    ),
    sql(
      `SELECT c.id, ${TITLE} FROM conversations c LEFT JOIN topics t ON t.conversation = c.id WHERE c.id IN (${IDS})`,
      idsOf(entries, "conversation"),
    ),
  ]);
  const named = (rows: readonly Named[]) => new Map(rows.map(({ id, name }) => [id, name]));
  return {
    people: named(objects<Named>(people)),
    calls: new Map(objects<NamedCall & { readonly id: string }>(calls).map((call) => [call.id, call])),
    questions: named(objects<Named>(questions)),
    titles: new Map(
      objects<{ readonly id: string; readonly title: string }>(titles).map(({ id, title }) => [id, title]),
    ),
  };
}

/** One argument for a list of any length. */
const IDS = "SELECT value FROM json_each(?)";

/** A column's different values as a JSON list. */
function idsOf(
  entries: readonly DecisionRow[],
  column: "actor" | "call_id" | "item_id" | "conversation",
): string {
  return JSON.stringify([...new Set(entries.map((entry) => entry[column]).filter((id) => id !== null))]);
}

function twice(text: string): [string, string] {
  return [text, text];
}
