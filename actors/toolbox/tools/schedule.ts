/**
 * `schedule`: a prompt that comes back to this conversation later. The scheduler owns schedules; this tool only checks the arguments and
 * asks it. Proven by `gateway_test.ts`.
 */
import * as z from "zod";
import type { ScheduleSpec } from "../../protocol/scheduler.ts";
import { defineTool, oneLine, type Tool } from "../tool.ts";
import type { ToolDeps } from "./_deps.ts";

const Key = z.string().min(1).max(100).describe("Names the schedule; the same key replaces it.");

const Arguments = z.strictObject({
  key: Key,
  prompt: z.string().min(1).max(20_000).describe("What you will be told when it fires."),
  kind: z.enum(["once", "every", "cron"]),
  inSeconds: z.number().positive().max(315_360_000).optional().describe("once: from now on."),
  at: z.string().max(50).refine(isInstant, "must be ISO 8601 with an offset or Z").optional().describe(
    "once: ISO 8601 with an offset, or Z.",
  ),
  everySeconds: z.number().min(60).max(31_536_000).optional().describe("every: the interval."),
  expression: z.string().min(1).max(200).optional().describe("cron: five or six fields."),
  timeZone: z.string().max(100).optional().describe("cron: IANA name."),
}).check((context) => {
  const { kind, inSeconds, at, everySeconds, expression } = context.value;
  const problem = kind === "once" && (inSeconds === undefined) === (at === undefined)
    ? "once needs exactly one of inSeconds and at"
    : kind === "every" && everySeconds === undefined
    ? "every needs everySeconds"
    : kind === "cron" && expression === undefined
    ? "cron needs expression"
    : undefined;
  if (problem) {
    context.issues.push({ code: "custom", message: problem, input: context.value, path: ["kind"] });
  }
});
type Arguments = z.infer<typeof Arguments>;

/** Builds the tool. */
export function schedule({ clock, timeZone }: ToolDeps): Tool {
  return defineTool({
    name: "schedule",
    description:
      "Schedules a prompt to yourself in this conversation: once, at an interval, or by a cron expression.",
    class: "schedule",
    idempotent: true,
    arguments: Arguments,
    describe: (args) =>
      Promise.resolve({
        summary: oneLine(`Schedule "${args.key}": ${when(args)}`),
        paths: [],
        outside: [],
        preview: { kind: "text", text: `${when(args)}\n\n${args.prompt}` },
        risk: "medium",
      }),
    ask: (args, { callId }, place) => ({
      to: "scheduler",
      type: "schedule.put",
      payload: {
        requestId: callId,
        callId,
        conversation: place.conversation,
        key: args.key,
        spec: specOf(args, clock.now()),
        prompt: args.prompt,
        timeZone: args.timeZone ?? timeZone,
        createdBy: `conversation/${place.conversation}`,
      },
    }),
  });
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && Number.isFinite(Date.parse(text));
}

function when(args: Arguments): string {
  if (args.kind === "once") return args.at ? `once at ${args.at}` : `once in ${args.inSeconds} s`;
  if (args.kind === "every") return `every ${args.everySeconds} s`;
  return `cron ${args.expression}${args.timeZone ? ` (${args.timeZone})` : ""}`;
}

function specOf(args: Arguments, now: number): ScheduleSpec {
  if (args.kind === "every") return { kind: "every", everyMs: Math.round((args.everySeconds ?? 60) * 1_000) };
  if (args.kind === "cron") return { kind: "cron", expression: args.expression ?? "" };
  return {
    kind: "once",
    at: args.at ? Date.parse(args.at) : Math.round(now + (args.inSeconds ?? 0) * 1_000),
  };
}

/** `list_schedules`. */
export function listSchedules(): Tool {
  return defineTool({
    name: "list_schedules",
    description: "Lists the schedules of this conversation.",
    class: "schedule",
    idempotent: true,
    arguments: z.strictObject({}),
    describe: () => Promise.resolve({ summary: "List schedules", paths: [], outside: [], risk: "low" }),
    ask: (_, { callId }, place) => ({
      to: "scheduler",
      type: "schedule.list",
      payload: { requestId: callId, callId, conversation: place.conversation },
    }),
  });
}

/** `cancel_schedule`. */
export function cancelSchedule(): Tool {
  return defineTool({
    name: "cancel_schedule",
    description: "Cancels a schedule of this conversation.",
    class: "schedule",
    idempotent: true,
    arguments: z.strictObject({ key: Key }),
    describe: ({ key }) =>
      Promise.resolve({ summary: oneLine(`Cancel schedule "${key}"`), paths: [], outside: [], risk: "low" }),
    ask: ({ key }, { callId }, place) => ({
      to: "scheduler",
      type: "schedule.cancel",
      payload: { requestId: callId, callId, conversation: place.conversation, key },
    }),
  });
}
