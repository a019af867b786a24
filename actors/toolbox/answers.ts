/**
 * How a call ends: the move of its row together with the one `tool.result` for its conversation, and the words for what other actors
 * answer. Pure. Proven by `gateway_test.ts`.
 */
import type { Effects } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { QuestionAnswered } from "../protocol/approval.ts";
import type { ScheduleAnswer, ScheduleView } from "../protocol/scheduler.ts";
import type { ToolResult } from "../protocol/tools.ts";
import type { CallRow } from "./call_row.ts";
import { headTail, MODEL_CHARS } from "./sandbox/output.ts";
import type { Outcome } from "./tool.ts";

/** Tools cut their own output and put a few words around it; this net is for what comes from elsewhere. */
const MAX_TEXT = MODEL_CHARS + 2_000;

/** The end of a call. */
export type End = Omit<ToolResult, "callId" | "stopTurn">;

/** The row's last state for each outcome that the toolbox can give. */
const states = {
  finished: "finished",
  failed: "failed",
  invalid: "failed",
  rejected: "failed",
  expired: "failed",
  unknown: "failed",
  cancelled: "cancelled",
} as const;

/** The end of a call that may or may not have run. */
export const unknownOutcome: End = {
  outcome: "unknown",
  text:
    "The outcome is unknown: the toolbox stopped while this call was running. It may have run completely, partly or " +
    "not at all, and it was not repeated. Look at the present state before you decide what to do.",
};

/** The end of a call that ran, by what it gave back; `cancelled`: somebody stopped it. */
export function ending(outcome: Outcome, cancelled: boolean): End {
  const exit = outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode };
  if (!outcome.aborted) return { outcome: outcome.ok ? "finished" : "failed", text: outcome.text, ...exit };
  if (cancelled) return { outcome: "cancelled", text: outcome.text, ...exit };
  return {
    outcome: "unknown",
    text: `The toolbox had to stop and killed this call.\n${outcome.text}`,
    ...exit,
  };
}

/** Moves the row to its end and tells the conversation. */
export function settle(call: Pick<CallRow, "callId" | "conversation">, end: End): Effects {
  const result = { ...end, text: headTail(end.text, MAX_TEXT) };
  const move: Op = {
    op: "call.move",
    callId: call.callId,
    to: states[end.outcome],
    outcome: end.outcome,
    result,
  };
  return { ops: [move], send: [resultFor(call, result)] };
}

/** The result alone, for a call that has no row. */
export function resultFor({ callId, conversation }: Pick<CallRow, "callId" | "conversation">, end: End) {
  return {
    to: `conversation/${conversation}`,
    type: "tool.result",
    payload: { callId, stopTurn: false, ...end } satisfies ToolResult,
  };
}

/** The result of `ask_user` from what a person did. */
export function fromPerson({ outcome, answer }: QuestionAnswered): End {
  switch (outcome) {
    case "answered":
      return { outcome: "finished", text: answer ?? "" };
    case "declined":
      return { outcome: "rejected", text: "The user did not want to answer." };
    case "expired":
      return { outcome: "expired", text: "Nobody answered in time." };
    case "cancelled":
      return { outcome: "cancelled", text: "The question was withdrawn." };
    default:
      return outcome satisfies never;
  }
}

/** The result of the schedule tools from what the scheduler answered. */
export function fromScheduler({ ok, message, schedules }: ScheduleAnswer): End {
  const lines = [message, ...schedules.map(scheduleLine)].filter((line) => line !== "");
  return { outcome: ok ? "finished" : "failed", text: lines.join("\n") || "There are no schedules." };
}

function scheduleLine({ key, spec, timeZone, nextAt, prompt }: ScheduleView): string {
  const rule = spec.kind === "cron"
    ? `cron ${spec.expression} (${timeZone})`
    : spec.kind === "every"
    ? `every ${spec.everyMs / 1_000} s`
    : "once";
  const next = nextAt === null ? "never again" : `next ${new Date(nextAt).toISOString()}`;
  return `- ${key}: ${rule}, ${next}: ${prompt.replace(/\s+/g, " ").slice(0, 200)}`;
}
