/**
 * Takes a message out of its mailbox for good: the row is marked dead, kept in `dead_letters`, its sender is answered with `request.failed` if
 * it was a request, and the operator gets a note. Proven by `runtime/runtime_test.ts`.
 */
import { sql, type Statement } from "../../store/db.ts";
import { merge, plain } from "./built.ts";
import type { Kernel } from "../supervise/kernel.ts";
import type { Mail } from "./mail.ts";

/** Buries one message. Its mailbox forgets it at once; the rows follow. */
export function deadLetter(
  kernel: Pick<Kernel, "clock" | "room" | "commits" | "builder" | "note" | "log" | "meter">,
  mail: Mail,
  error: { readonly code: string; readonly message: string },
): void {
  const { clock, room, commits, builder, note, log, meter } = kernel;
  room.box(mail.to).remove(mail.id);
  meter.deadLetter(mail.to);
  const statements = deadStatements(mail, error, clock.now());
  const failure = builder.buildFailure({ ...mail, payload: parse(mail.payload) }, error);
  void commits.run(mail.id, merge([plain(statements), failure])).then((outcome) => {
    if (!outcome.ok) {
      log("error", "a dead letter could not be written", { message: mail.id, error: outcome.error.message });
    }
  });
  const { id, to, from, type } = mail;
  note({ type: "poison", ref: to, from, message: id, messageType: type, detail: error.message });
}

function deadStatements(
  mail: Mail,
  error: { readonly code: string; readonly message: string },
  now: number,
): Statement[] {
  return [
    sql("UPDATE messages SET state = 'dead', done_at = ? WHERE id = ?", now, mail.id),
    sql(
      `INSERT INTO dead_letters (message_id, to_ref, from_ref, type, reason, detail, failures, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (message_id) DO NOTHING`,
      mail.id,
      mail.to,
      mail.from,
      mail.type,
      error.code,
      error.message,
      mail.failures,
      now,
    ),
  ];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
