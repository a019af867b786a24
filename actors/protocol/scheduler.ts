/**
 * Schedules: upserted by (conversation, key), fired as messages to their conversation.
 */
import * as z from "zod";
import { message } from "./define.ts";

/** When a schedule fires. `cron` takes five or six fields in the schedule's time zone; `every` counts from `startAt`. */
export const ScheduleSpec = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("once"), at: z.int() }),
  z.object({ kind: z.literal("every"), everyMs: z.int().min(60_000), startAt: z.int().optional() }),
  z.object({ kind: z.literal("cron"), expression: z.string().min(1).max(200) }),
]);
export type ScheduleSpec = z.infer<typeof ScheduleSpec>;

/**
 * `requestId` comes back in the answer: the tool call's id, or the edge's command id. A tool call is also named as `callId`, which
 * `request.failed` copies.
 */
export const SchedulePut = z.object({
  requestId: z.string(),
  callId: z.string().optional(),
  conversation: z.string(),
  key: z.string().min(1).max(100),
  spec: ScheduleSpec,
  prompt: z.string().min(1).max(20_000),
  timeZone: z.string().max(100).default("UTC"),
  createdBy: z.string().max(200),
});
export type SchedulePut = z.infer<typeof SchedulePut>;

export const ScheduleList = z.object({
  requestId: z.string(),
  callId: z.string().optional(),
  conversation: z.string(),
});
export type ScheduleList = z.infer<typeof ScheduleList>;

export const ScheduleCancel = z.object({
  requestId: z.string(),
  callId: z.string().optional(),
  conversation: z.string(),
  key: z.string(),
});
export type ScheduleCancel = z.infer<typeof ScheduleCancel>;

/** A schedule as its conversation may see it. Times are milliseconds since the epoch. */
export const ScheduleView = z.object({
  key: z.string(),
  spec: ScheduleSpec,
  prompt: z.string(),
  timeZone: z.string(),
  nextAt: z.int().nullable(),
});
export type ScheduleView = z.infer<typeof ScheduleView>;

/** The one answer to the three requests. */
export const ScheduleAnswer = z.object({
  requestId: z.string(),
  ok: z.boolean(),
  message: z.string(),
  schedules: z.array(ScheduleView),
});
export type ScheduleAnswer = z.infer<typeof ScheduleAnswer>;

/** Message types of this subject. */
export const schedulerMessages = {
  "schedule.put": message(["toolbox", "edge"], ["scheduler"], SchedulePut, { request: true }),
  "schedule.list": message(["toolbox", "edge"], ["scheduler"], ScheduleList, { request: true }),
  "schedule.cancel": message(["toolbox", "edge"], ["scheduler"], ScheduleCancel, { request: true }),
  "schedule.answer": message(["scheduler"], ["toolbox", "edge"], ScheduleAnswer, { recovery: "repeat" }),
  "schedule.tick": message(["scheduler"], ["scheduler"], z.object({}), { lane: "control" }),
} as const;
