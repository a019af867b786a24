/**
 * A commit that is built and not made yet: which messages it settles, what it writes, which messages go on when it is on disk. Many commits of
 * one actor merge into one, and what they have in common becomes one statement each: libSQL's cost is per statement. Pure. Proven by
 * `commit_builder_test.ts`.
 */
import { guard, labelled, type Rows, sql, type Statement } from "../../store/db.ts";
import { announce } from "../../store/feed.ts";
import type { Mail } from "./mail.ts";

/** A message with its catalogue entry. */
export interface Outgoing {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly type: string;
  readonly lane: "control" | "normal";
  readonly payload: unknown;
  readonly cause?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly at: number;
}

/** A refused message, for notes. */
export interface Refused {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/** Seq, type, payload as JSON text, time. */
export type EventRow = readonly [number, string, string, number];

/** Events of one actor. `check`: prove that they follow the stored ones. */
export interface BuiltEvents {
  readonly ref: string;
  readonly check: boolean;
  readonly rows: readonly EventRow[];
}

/** A commit ready to be made. */
export interface Built {
  /** Messages that are done with it. */
  readonly done: readonly string[];
  readonly events?: BuiltEvents | undefined;
  readonly statements: readonly Statement[];
  /** Rows that become mail, and which of `statements` tells their `seq`. */
  readonly mail: readonly { readonly statement: number; readonly mail: Omit<Mail, "seq"> }[];
  readonly ephemeral: readonly Outgoing[];
  /** Durable messages to the edge, shown there once committed. */
  readonly edge: readonly Outgoing[];
  /** Which of `statements` tell the `seq` of those. */
  readonly edgeRows: readonly number[];
  readonly refused: readonly Refused[];
}

/** A commit while it is being built. */
export class Draft implements Built {
  readonly done: string[] = [];
  events: BuiltEvents | undefined;
  readonly statements: Statement[];
  readonly mail: { statement: number; mail: Omit<Mail, "seq"> }[] = [];
  readonly ephemeral: Outgoing[] = [];
  readonly edge: Outgoing[] = [];
  readonly edgeRows: number[] = [];
  readonly refused: Refused[] = [];

  constructor(statements: readonly Statement[]) {
    this.statements = [...statements];
  }
}

/** A commit of statements that sends nothing. */
export function plain(statements: readonly Statement[]): Built {
  return new Draft(statements);
}

/** A commit that only settles a message. */
export function settling(id: string): Built {
  const draft = new Draft([]);
  draft.done.push(id);
  return draft;
}

/** Several commits of one actor as one: all or nothing. */
export function merge(parts: readonly Built[]): Built {
  const merged = new Draft([]);
  for (const part of parts) {
    const offset = merged.statements.length;
    merged.done.push(...part.done);
    merged.statements.push(...part.statements);
    merged.events = joined(merged.events, part.events);
    merged.mail.push(...part.mail.map(({ statement, mail }) => ({ statement: statement + offset, mail })));
    merged.ephemeral.push(...part.ephemeral);
    merged.edge.push(...part.edge);
    merged.edgeRows.push(...part.edgeRows.map((statement) => statement + offset));
    merged.refused.push(...part.refused);
  }
  return merged;
}

function joined(before: BuiltEvents | undefined, after: BuiltEvents | undefined): BuiltEvents | undefined {
  if (!before || !after) return before ?? after;
  return { ...before, rows: [...before.rows, ...after.rows] };
}

/** The statements of a commit in order; those of `built.statements` begin at `offset`. */
export function compose(built: Built, now: number): { statements: Statement[]; offset: number } {
  const head = [...doneMarks(built.done, now), ...eventStatements(built.events)];
  const last = built.events?.rows.at(-1);
  const news = built.events && last ? [announce("events", built.events.ref, last[0], now)] : [];
  return { statements: [...head, ...built.statements, ...news], offset: head.length };
}

/** Marks messages done; fails on `messages.state` when one is done, dead or withdrawn already. */
function doneMarks(ids: readonly string[], now: number): Statement[] {
  if (ids.length === 0) return [];
  const update =
    "UPDATE messages SET state = CASE WHEN state IN ('queued', 'started') THEN 'done' END, done_at = ?";
  const which = ids.length === 1 ? "id = ?" : "id IN (SELECT value FROM json_each(?))";
  const ref = ids.length === 1 ? ids[0] : JSON.stringify(ids);
  return labelled("message still open", [sql(`${update} WHERE ${which}`, now, ref)]);
}

function eventStatements(events: BuiltEvents | undefined): Statement[] {
  const first = events?.rows[0];
  if (!events || !first) return [];
  const { ref, check, rows } = events;
  const next = "(SELECT coalesce(max(seq), 0) + 1 FROM events WHERE actor = ?) = ?";
  return labelled("events follow the stored ones", [
    ...(check ? guard(next, ref, first[0]) : []),
    sql(
      `INSERT INTO events (actor, seq, type, payload, at)
       SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`,
      ref,
      JSON.stringify(rows),
    ),
  ]);
}

/** The mail that a commit made, with the `seq` that its rows told; what `dedupe` kept out has none. */
export function insertedMail(built: Built, rows: readonly Rows[], offset: number): Mail[] {
  return built.mail.flatMap(({ statement, mail }) => {
    const seq = rows[statement + offset]?.rows[0]?.[0];
    return typeof seq === "number" ? [{ ...mail, seq }] : [];
  });
}

/** The `seq` of the rows that a commit made and that are nobody's mail. */
export function insertedRows(built: Built, rows: readonly Rows[], offset: number): number[] {
  return built.edgeRows.flatMap((statement) => {
    const seq = rows[statement + offset]?.rows[0]?.[0];
    return typeof seq === "number" ? [seq] : [];
  });
}
