/**
 * What became of a command that the edge sent to an actor: the answers are messages to `edge` whose cause is the command.
 * Proven by `edge/policy_test.ts`.
 */
import { type Db, objects, sql } from "../db.ts";

/** A command and its answer, if it has come. Payloads are JSON text. */
export interface CommandRow {
  readonly to_ref: string;
  readonly type: string;
  readonly payload: string;
  readonly state: "queued" | "started" | "done" | "dead";
  readonly answer_type: string | null;
  readonly answer: string | null;
}

/** The command with this message id, if the edge sent it. Rejects with `DbError`. */
export async function findCommand(db: Db, id: string): Promise<CommandRow | undefined> {
  const rows = await db.query(
    sql(
      `SELECT m.to_ref, m.type, m.payload, m.state, a.type AS answer_type, a.payload AS answer
       FROM messages m LEFT JOIN messages a ON a.to_ref = 'edge' AND a.cause = m.id
       WHERE m.id = ? AND m.from_ref = 'edge' ORDER BY a.seq LIMIT 1`,
      id,
    ),
  );
  return objects<CommandRow>(rows)[0];
}

/** The id and receiver of the message that a dedupe text stands for. Rejects with `DbError`. */
export async function findByDedupe(
  db: Db,
  dedupe: string,
): Promise<{ readonly id: string; readonly to_ref: string } | undefined> {
  const rows = await db.query(sql("SELECT id, to_ref FROM messages WHERE dedupe = ?", dedupe));
  return objects<{ id: string; to_ref: string }>(rows)[0];
}
