/**
 * The scheduler: upserts schedules by (conversation, key) and fires each as a message to its conversation. The message, the record of the run and
 * the next alarm are one commit, and the message's dedupe key names the planned time, so a run happens once. One alarm serves all. Pure; it
 * knows no topic and no model. Proven by `scheduler_test.ts`.
 */
import type { Decision, Env, Envelope, PureActor, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { Message } from "../protocol.ts";
import type {
  ScheduleAnswer,
  ScheduleCancel,
  ScheduleList,
  SchedulePut,
  ScheduleSpec,
  ScheduleView,
} from "../protocol/scheduler.ts";
import { nextRun, timingProblem, whenDue } from "./when.ts";

/** The most schedules that one conversation may have. */
export const MAX_PER_CONVERSATION = 50;

/** A schedule that has a next run. */
export interface Schedule {
  readonly id: string;
  readonly conversation: string;
  readonly key: string;
  readonly spec: ScheduleSpec;
  readonly prompt: string;
  readonly timeZone: string;
  readonly nextAt: number;
}

/** Every schedule that will run again. */
export interface SchedulerState {
  readonly schedules: readonly Schedule[];
}

interface Outcome {
  readonly state: SchedulerState;
  readonly ops: readonly Op[];
  readonly send: readonly Send[];
}

/** The actor, as `runtime/pure_worker.ts` runs it. */
export const scheduler: PureActor<SchedulerState> = { restore, decide };

function restore(loaded: unknown): SchedulerState {
  return loaded as SchedulerState; // what `store/loads/scheduler.ts` read; specs were checked when they were put
}

function decide(state: SchedulerState, message: Envelope, env: Env): Decision<SchedulerState> {
  // The supervisor has parsed the payload against the catalogue and checked who may say it.
  const typed = message as Message;
  switch (typed.type) {
    case "schedule.put":
      return put(state, typed.payload, { from: typed.from, env });
    case "schedule.list":
      return list(state, typed.payload, typed.from);
    case "schedule.cancel":
      return cancel(state, typed.payload, typed.from);
    case "schedule.tick":
      return tick(state, env.now);
    case "actor.woke":
      // An alarm that was lost (a dead letter) is set again.
      return { state, send: alarm(state.schedules) };
    default:
      return { state };
  }
}

function put(
  state: SchedulerState,
  request: SchedulePut,
  { from, env }: { from: string; env: Env },
): Outcome {
  const conversation = conversationId(request.conversation);
  const { key, spec, prompt, timeZone } = request;
  const own = ofConversation(state, conversation);
  const old = own.find((schedule) => schedule.key === key);
  const refuse = (message: string) =>
    unchanged(state, from, { ...request, ok: false, message, conversation });
  if (!old && own.length >= MAX_PER_CONVERSATION) {
    return refuse(`A conversation has at most ${MAX_PER_CONVERSATION} schedules; cancel one first`);
  }
  const problem = timingProblem({ spec, timeZone }, env.now);
  if (problem) return refuse(`Not scheduled: ${problem}`);
  const nextAt = nextRun({ spec, timeZone }, env.now);
  if (nextAt === undefined) return refuse("Not scheduled: it would never run");

  const schedule: Schedule = {
    id: old?.id ?? env.newId(),
    conversation,
    key,
    spec,
    prompt,
    timeZone,
    nextAt,
  };
  const schedules = [...state.schedules.filter((other) => other !== old), schedule];
  const message = `${old ? "Changed" : "Scheduled"} "${key}"; next run ${new Date(nextAt).toISOString()}`;
  return {
    state: { schedules },
    ops: [{ op: "schedule.put", ...schedule, kind: spec.kind, createdBy: request.createdBy }],
    send: [answer({ schedules }, from, { ...request, ok: true, message, conversation }), ...alarm(schedules)],
  };
}

function list(state: SchedulerState, request: ScheduleList, from: string): Outcome {
  const conversation = conversationId(request.conversation);
  const count = ofConversation(state, conversation).length;
  const message = count === 1 ? "1 schedule" : `${count} schedules`;
  return unchanged(state, from, { ...request, ok: true, message, conversation });
}

function cancel(state: SchedulerState, request: ScheduleCancel, from: string): Outcome {
  const conversation = conversationId(request.conversation);
  const old = ofConversation(state, conversation).find((schedule) => schedule.key === request.key);
  if (!old) {
    const message = `There is no schedule "${request.key}" in this conversation`;
    return unchanged(state, from, { ...request, ok: false, message, conversation });
  }
  const schedules = state.schedules.filter((schedule) => schedule !== old);
  const message = `Cancelled "${request.key}"`;
  return {
    state: { schedules },
    ops: [{ op: "schedule.remove", id: old.id }],
    send: [answer({ schedules }, from, { ...request, ok: true, message, conversation }), ...alarm(schedules)],
  };
}

function tick(state: SchedulerState, now: number): Outcome {
  const ops: Op[] = [];
  const send: Send[] = [];
  const schedules = state.schedules.flatMap((schedule): Schedule[] => {
    if (schedule.nextAt > now) return [schedule];
    const { missed, nextAt } = whenDue(schedule, schedule.nextAt, now);
    ops.push({
      op: "schedule.ran",
      id: schedule.id,
      plannedAt: schedule.nextAt,
      missed,
      nextAt: nextAt ?? null,
    });
    send.push(fire(schedule, missed));
    return nextAt === undefined ? [] : [{ ...schedule, nextAt }];
  });
  return { state: { schedules }, ops, send: [...send, ...alarm(schedules)] };
}

/** `source` is read from a conversation's first message only, so any would do here: a schedule's conversation exists already. */
function fire(schedule: Schedule, missed: number): Send {
  const { id, conversation, key, prompt, nextAt } = schedule;
  const late = missed === 0
    ? ""
    : `\n\n(Planned for ${new Date(nextAt).toISOString()}; ${missed} later ${
      missed === 1 ? "run was" : "runs were"
    } missed and left out.)`;
  return {
    to: `conversation/${conversation}`,
    type: "conversation.message",
    payload: {
      text: prompt + late,
      author: { kind: "schedule", id, name: `schedule ${key}` },
      mode: "queue",
      source: { kind: "web" },
    },
    dedupe: `schedule/${id}/${nextAt}`,
  };
}

/** The one alarm, for the earliest run. A newer one replaces it. */
function alarm(schedules: readonly Schedule[]): Send[] {
  if (schedules.length === 0) return [];
  const notBefore = Math.min(...schedules.map((schedule) => schedule.nextAt));
  return [{ to: "scheduler", type: "schedule.tick", payload: {}, notBefore, replaces: "tick" }];
}

type Said = Pick<ScheduleAnswer, "requestId" | "ok" | "message"> & { readonly conversation: string };

function unchanged(state: SchedulerState, to: string, said: Said): Outcome {
  return { state, ops: [], send: [answer(state, to, said)] };
}

function answer(state: SchedulerState, to: string, { requestId, ok, message, conversation }: Said): Send {
  const schedules = ofConversation(state, conversation).map(view);
  return { to, type: "schedule.answer", payload: { requestId, ok, message, schedules } };
}

function view({ key, spec, prompt, timeZone, nextAt }: Schedule): ScheduleView {
  return { key, spec, prompt, timeZone, nextAt };
}

function ofConversation(state: SchedulerState, conversation: string): readonly Schedule[] {
  return state.schedules.filter((schedule) => schedule.conversation === conversation);
}

/** A conversation's id, whether the request names it by id or by ref. */
function conversationId(text: string): string {
  return text.startsWith("conversation/") ? text.slice("conversation/".length) : text;
}
