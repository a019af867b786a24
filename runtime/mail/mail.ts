/**
 * A durable message as the supervisor holds it: the row, with its payload as the JSON text that it was stored as, so that delivery needs no
 * parsing. Knows how to read rows and how to write the envelope that actors see.
 */
import { objects, type Rows, sql, type Statement } from "../../store/db.ts";

/** One open row of `messages`. */
export interface Mail {
  readonly seq: number;
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly lane: "control" | "normal";
  readonly key: string;
  /** JSON text. */
  readonly payload: string;
  readonly cause: string | null;
  readonly traceparent: string | null;
  readonly at: number;
  readonly notBefore: number | null;
  readonly replaces: string | null;
  started: boolean;
  /** JSON text of a gateway's last intent. */
  intent: string | null;
  failures: number;
  /** When it was last put into its actor's hands, milliseconds since the epoch. */
  handedAt?: number;
}

interface Row {
  seq: number;
  id: string;
  v: number;
  to_ref: string;
  from_ref: string;
  type: string;
  lane: number;
  key: string | null;
  payload: string;
  cause: string | null;
  traceparent: string | null;
  at: number;
  not_before: number | null;
  replaces: string | null;
  state: string;
  intent: string | null;
  failures: number;
}

/** Open rows after `seq`, oldest first. */
export function openMail(seq: number, limit: number): Statement {
  return sql(
    `SELECT seq, id, v, to_ref, from_ref, type, lane, key, payload, cause, traceparent, at, not_before, replaces, state, intent, failures
     FROM messages WHERE seq > ? AND state IN ('queued', 'started') ORDER BY seq LIMIT ?`,
    seq,
    limit,
  );
}

/** The rows as mail, each with its version. */
export function readMail(rows: Rows): { mail: Mail; v: number }[] {
  return objects<Row>(rows).map((row) => ({
    v: row.v,
    mail: {
      seq: row.seq,
      id: row.id,
      to: row.to_ref,
      from: row.from_ref,
      type: row.type,
      lane: row.lane === 0 ? "control" : "normal",
      key: row.key ?? row.from_ref,
      payload: row.payload,
      cause: row.cause,
      traceparent: row.traceparent,
      at: row.at,
      notBefore: row.not_before,
      replaces: row.replaces,
      started: row.state === "started",
      intent: row.intent,
      failures: row.failures,
    },
  }));
}

/** What an envelope needs; a `Mail` has it, an ephemeral message too. */
export interface EnvelopeParts {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly lane: "control" | "normal";
  /** JSON text. */
  readonly payload: string;
  readonly cause?: string | null | undefined;
  readonly traceparent?: string | null | undefined;
  readonly at: number;
}

/** The envelope as JSON text. */
export function envelopeText(parts: EnvelopeParts, durable: boolean): string {
  const head = JSON.stringify({
    id: parts.id,
    v: 1,
    to: parts.to,
    from: parts.from,
    type: parts.type,
    cause: parts.cause ?? undefined,
    lane: parts.lane,
    durable,
    traceparent: parts.traceparent ?? undefined,
    at: parts.at,
  });
  return `${head.slice(0, -1)},"payload":${parts.payload}}`;
}
