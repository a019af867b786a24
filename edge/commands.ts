/**
 * Commands whose answer the caller would like to have: the message is committed, then the answer is waited for a little while. Promises that
 * a command is never sent while the supervisor is away, and that a caller who got 202 can ask later. Proven by `edge/policy_test.ts`.
 */
import * as z from "zod";
import type { MessageType } from "../actors/protocol.ts";
import { PolicyDone } from "../actors/protocol/approval.ts";
import { RequestFailed } from "../actors/protocol/conversation.ts";
import { ScheduleAnswer } from "../actors/protocol/scheduler.ts";
import { findCommand } from "../store/queries/commands.ts";
import { leaseState } from "../store/queries/health.ts";
import type { CommandStatus } from "./api.ts";
import type { Edge } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { send } from "./outbox.ts";

/** How long an answer is waited for, in milliseconds. */
export const ANSWER_MS = 5_000;

const LOOK_EVERY_MS = 200;
const Json = z.string().transform((text): unknown => JSON.parse(text));

/** Sends the command and waits for its end, at most five seconds. Throws `supervisor_away` when nobody would carry it out. */
export async function command(
  edge: Edge,
  message: { to: string; type: MessageType; payload: unknown },
): Promise<CommandStatus> {
  if (!(await leaseState(edge.db)).fresh) {
    throw new ApiError("supervisor_away", "The supervisor is away; nothing was changed");
  }
  const id = await send(edge, message);
  const deadline = edge.clock.monotonic() + ANSWER_MS;
  for (;;) {
    const status = await commandStatus(edge, id);
    if (status?.state !== "pending") return status ?? { command: id, state: "pending" };
    if (edge.clock.monotonic() >= deadline) return status;
    await edge.wake.wait(LOOK_EVERY_MS);
  }
}

/** How a command stands, or undefined when the edge never sent it. */
export async function commandStatus(edge: Edge, id: string): Promise<CommandStatus | undefined> {
  const row = await findCommand(edge.db, id);
  if (!row) return undefined;
  if (row.answer_type === null || row.answer === null) {
    // The supervisor answers only when it could not do it.
    if (row.state === "done" && row.to_ref === "supervisor") return { command: id, state: "done" };
    if (row.state !== "dead") return { command: id, state: "pending" };
    return failed(id, "poison", "The command could not be handled");
  }
  return readAnswer(id, row.answer_type, Json.parse(row.answer));
}

function readAnswer(id: string, type: string, payload: unknown): CommandStatus {
  switch (type) {
    case "policy.done": {
      const done = PolicyDone.parse(payload);
      if (!done.ok) return failed(id, done.code ?? "conflict", done.message ?? "The change was refused");
      return { command: id, state: "done", ...(done.id === undefined ? {} : { id: done.id }) };
    }
    case "schedule.answer": {
      const answer = ScheduleAnswer.parse(payload);
      return answer.ok ? { command: id, state: "done" } : failed(id, "not_found", answer.message);
    }
    case "request.failed": {
      const { code, message } = RequestFailed.parse(payload);
      return failed(id, code, message);
    }
    default:
      return failed(id, "unknown_type", `The command was answered with "${type}"`);
  }
}

function failed(command: string, code: string, message: string): CommandStatus {
  return { command, state: "failed", error: { code, message } };
}
