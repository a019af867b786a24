/**
 * Messages from the edge to actors: checked against the protocol, committed as rows, then the doorbell. Promises that a message is a row before
 * the caller hears of it, and that a repeat under one `dedupe` is one message. Proven by `edge/conversations_test.ts`.
 */
import { checkSend, type MessageType } from "../actors/protocol.ts";
import { guard, labelled, type Statement } from "../store/db.ts";
import { insertMessage } from "../store/mail.ts";
import { findByDedupe } from "../store/queries/commands.ts";
import type { Edge } from "./deps.ts";
import { ApiError, refuse, refuseCommit } from "./errors.ts";

/** The most messages that may wait for one actor in the normal lane. */
export const MAILBOX_LIMIT = 1_000;

/** A message to send. */
export interface EdgeMessage {
  readonly to: string;
  readonly type: MessageType;
  readonly payload: unknown;
  /** A second message with this text is never inserted. */
  readonly dedupe?: string | undefined;
  /** Takes the place of a queued message that named the same text. */
  readonly replaces?: string | undefined;
  /** Default `MAILBOX_LIMIT`. */
  readonly limit?: number | undefined;
}

/** Commits the message with whatever else belongs to it. Resolves with the message's id, the first one's for a repeat. */
export async function send(
  edge: Edge,
  message: EdgeMessage,
  extra: readonly Statement[] = [],
): Promise<string> {
  const checked = checkSend("edge", message);
  if (!checked.ok) refuse(checked.error);
  const id = edge.newId();
  const { to, type, dedupe, replaces } = message;
  const { lane, payload } = checked.value;
  const at = edge.clock.now();
  const insert = insertMessage({ id, to, from: "edge", type, lane, payload, at, dedupe, replaces });
  const room = lane === "normal" ? mailboxHasRoom(to, message.limit ?? MAILBOX_LIMIT) : [];
  const committed = await edge.committer.commit({ id, statements: [...room, ...extra, ...insert] });
  if (!committed.ok && committed.error.code === "guard_failed") {
    throw new ApiError("mailbox_full", "Too many messages wait there already; try again later");
  }
  if (!committed.ok) refuseCommit(committed.error);
  edge.doorbell([to]);
  if (dedupe === undefined) return id;
  return (await findByDedupe(edge.db, dedupe))?.id ?? id;
}

function mailboxHasRoom(to: string, limit: number): Statement[] {
  const waiting =
    "SELECT count(*) FROM messages WHERE to_ref = ? AND lane = 1 AND state IN ('queued', 'started')";
  return labelled("mailbox has room", guard(`(${waiting}) < ?`, to, limit));
}
