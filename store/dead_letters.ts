/**
 * Messages that were given up: what is known of them, and the statements by which a person settles one. Promises that a letter is settled
 * once, and that a message which is tried again becomes a new row: mailboxes are read forwards only. Proven by `tests/e2e/dead_letter_test.ts`.
 */
import { type Db, guard, labelled, objects, sql, type Statement } from "./db.ts";

/** How a person may settle one. */
export type Settling = "retried" | "discarded";

/** A dead letter, without what it said. Times are milliseconds since the epoch. */
export interface DeadLetterRow {
  readonly message_id: string;
  readonly to_ref: string;
  readonly from_ref: string;
  readonly type: string;
  readonly reason: string;
  readonly detail: string | null;
  readonly failures: number;
  readonly at: number;
  readonly settled: Settling | null;
  readonly settled_at: number | null;
}

const COLUMNS = "message_id, to_ref, from_ref, type, reason, detail, failures, at, settled, settled_at";

/** Newest first; `before` is the time of the last one of the page before, and its id. Rejects with `DbError`. */
export async function listDeadLetters(
  db: Pick<Db, "query">,
  page: {
    readonly limit: number;
    readonly open: boolean;
    readonly after?: { at: number; id: string } | undefined;
  },
): Promise<DeadLetterRow[]> {
  const { limit, open, after } = page;
  const rows = await db.query(sql(
    `SELECT ${COLUMNS} FROM dead_letters WHERE (? = 0 OR settled IS NULL) AND (at, message_id) < (?, ?)
     ORDER BY at DESC, message_id DESC LIMIT ?`,
    open ? 1 : 0,
    after?.at ?? Number.MAX_SAFE_INTEGER,
    after?.id ?? "",
    limit,
  ));
  return objects<DeadLetterRow>(rows);
}

/** One of them, or undefined. Rejects with `DbError`. */
export async function findDeadLetter(db: Pick<Db, "query">, id: string): Promise<DeadLetterRow | undefined> {
  return objects<DeadLetterRow>(
    await db.query(sql(`SELECT ${COLUMNS} FROM dead_letters WHERE message_id = ?`, id)),
  )[0];
}

/** Settles an open letter; fails as a guard when it is settled already or when what should be tried again is gone. */
export function settleStatements(
  id: string,
  settling: Settling,
  { now, newId }: { readonly now: number; readonly newId: () => string },
): Statement[] {
  const open = guard("EXISTS (SELECT 1 FROM dead_letters WHERE message_id = ? AND settled IS NULL)", id);
  const settle = sql(
    "UPDATE dead_letters SET settled = ?, settled_at = ? WHERE message_id = ?",
    settling,
    now,
    id,
  );
  if (settling === "discarded") return [...labelled("dead letter still open", open), settle];
  return [
    ...labelled("dead letter still open", open),
    ...labelled(
      "its message is kept",
      guard("EXISTS (SELECT 1 FROM messages WHERE id = ? AND state = 'dead')", id),
    ),
    settle,
    sql(
      `INSERT INTO messages (id, v, to_ref, from_ref, type, lane, key, payload, cause, traceparent, at)
       SELECT ?, v, to_ref, from_ref, type, lane, key, payload, id, traceparent, ? FROM messages WHERE id = ?`,
      newId(),
      now,
      id,
    ),
  ];
}
