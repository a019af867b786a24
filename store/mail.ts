/**
 * A message as a row: the one place that writes `messages`, used by the supervisor's commits and by the edge's inserts.
 */
import { sql, type Statement } from "./db.ts";

/** What becomes a row. Times are milliseconds since the epoch. */
export interface NewMessage {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly lane: "control" | "normal";
  readonly payload: unknown;
  readonly at: number;
  /** A gateway handles messages of one key in order. */
  readonly key?: string | undefined;
  readonly cause?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Not delivered before this time. */
  readonly notBefore?: number | undefined;
  /** A second message with this text is silently not inserted, for ever. */
  readonly dedupe?: string | undefined;
  /** Takes the place of the receiver's queued message that named the same text (an alarm that moves). */
  readonly replaces?: string | undefined;
  /** It is there to be read and nobody will take it out of a mailbox. */
  readonly settled?: boolean | undefined;
}

/** The statements that insert it; the INSERT is the last one and returns `seq`, or no row when `dedupe` was there already. */
export function insertMessage(message: NewMessage): Statement[] {
  const insert = sql(
    `INSERT INTO messages (id, v, to_ref, from_ref, type, lane, key, payload, cause, traceparent, at, not_before, dedupe, replaces, state, done_at)
     VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dedupe) WHERE dedupe IS NOT NULL DO NOTHING RETURNING seq`,
    message.id,
    message.to,
    message.from,
    message.type,
    message.lane === "control" ? 0 : 1,
    message.key,
    JSON.stringify(message.payload),
    message.cause,
    message.traceparent,
    message.at,
    message.notBefore,
    message.dedupe,
    message.replaces,
    message.settled ? "done" : "queued",
    message.settled ? message.at : null,
  );
  if (message.replaces === undefined) return [insert];
  return [
    sql(
      `UPDATE messages SET state = 'done', done_at = ? WHERE to_ref = ? AND replaces = ? AND state = 'queued'`,
      message.at,
      message.to,
      message.replaces,
    ),
    insert,
  ];
}
