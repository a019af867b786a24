/**
 * What happens to one tool call in the toolbox: described, run, cancelled, answered. Promises: a call runs only under a grant for the very
 * digest that it has now; its row says `executing` before the world is touched; a call that may have run is never run again unless running
 * twice is the same as once; every call ends in one `tool.result`. Every move that another actor may have made first is committed by
 * itself, so that losing such a race is an answer and not a crash. Proven by `gateway_test.ts`.
 */
import { isFinal } from "../../lib/call_state.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Delivery, Effects, GatewayContext, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { QuestionAnswered } from "../protocol/approval.ts";
import type { RequestFailed } from "../protocol/conversation.ts";
import type { ToolCancel, ToolPropose, ToolRedescribe, ToolRun } from "../protocol/tools.ts";
import { type End, ending, fromPerson, resultFor, settle, unknownOutcome } from "./answers.ts";
import { type CallRow, contextOf, readCall } from "./call_row.ts";
import { describeCall, type DescribedCall, type Describer } from "./describe_call.ts";
import { watchLease } from "./lease_watch.ts";
import { Questions, withdrawal } from "./questions.ts";
import type { Outcome, Place, Question } from "./tool.ts";

/** What the calls are handled with. */
export interface CallsOptions {
  readonly context: GatewayContext;
  readonly describer: Describer;
  readonly clock: Clock;
  /** Makes (if needed) and names the workspace of a conversation. */
  readonly placeOf: (conversation: string) => Promise<Place>;
}

/** How many cancelled calls are remembered, for grants that are still on their way. */
const MAX_CANCELLED = 10_000;
const STOPPED = "The toolbox stopped meanwhile.";

/** All calls of this process. */
export class Calls {
  readonly #running = new Map<string, AbortController>();
  readonly #cancelled = new Set<string>();
  readonly #questions: Questions;

  constructor(private readonly options: CallsOptions) {
    this.#questions = new Questions(options.context);
  }

  /** `tool.propose`: describe it and ask approval, or say at once what is wrong. */
  async propose(delivery: Delivery, payload: ToolPropose): Promise<void> {
    const call = await this.#own(delivery, payload.callId);
    if (!call) {
      const conversation = delivery.message.from.slice("conversation/".length);
      const end: End = { outcome: "invalid", text: "This call is not known." };
      await this.#try(delivery, { send: [resultFor({ callId: payload.callId, conversation }, end)] });
      return;
    }
    if (call.state !== "proposed") return;
    const made = await this.#describe(call);
    if (!made.ok) {
      await this.#try(delivery, settle(call, { outcome: "invalid", text: made.error.message }));
      return;
    }
    const { described, digest } = made.value;
    const move: Op = { op: "call.move", callId: call.callId, to: "described", described, digest };
    const { requestedBy } = payload;
    const judge = this.#judge(call, made.value);
    const send = [{ ...judge, payload: { ...judge.payload, ...(requestedBy && { requestedBy }) } }];
    await this.#try(delivery, { ops: [move], send });
  }

  /** `tool.redescribe`: a person edited the arguments; the row stays where it is. */
  async redescribe(payload: ToolRedescribe): Promise<Effects> {
    const { callId, itemId, tool, arguments: edited } = payload;
    const call = await readCall(this.options.context, callId);
    if (!call) return undescribed(payload, "This call is not known.");
    const made = await this.#describe({ ...call, tool, arguments: edited });
    if (!made.ok) return undescribed(payload, made.error.message);
    const judge = this.#judge({ ...call, tool, arguments: edited }, made.value);
    return { send: [{ ...judge, payload: { ...judge.payload, editedFor: itemId } }] };
  }

  /** `tool.run`: run it if it is still what was granted. */
  async run(delivery: Delivery, { callId, grant, hidden }: ToolRun): Promise<Effects | void> {
    const { context } = this.options;
    const call = await readCall(context, callId);
    if (!call || isFinal(call.state) || this.#running.has(callId)) return;
    const again = call.state === "executing";
    if (!again && call.state !== "judged" && call.state !== "decided") return;
    if (again && this.options.describer.find(call.tool)?.answeredElsewhere) return;
    if (again && !call.described?.idempotent) return abandoned(call, grant);
    // What the process that died had asked a person, nobody hears the answer of.
    if (again) await this.#tell(withdrawal(callId, STOPPED));
    if (this.#cancelled.has(callId)) {
      await this.#try(delivery, settle(call, { outcome: "cancelled", text: "Cancelled before it began." }));
      return;
    }
    const made = await this.#describe(call);
    const refusal = refuse(call, made.ok ? made.value.digest : undefined, grant.digest);
    if (!made.ok || refusal) {
      const text = made.ok ? refusal ?? "" : made.error.message;
      await this.#try(delivery, settle(call, { outcome: "failed", text }));
      return;
    }
    if (!context.mayAct()) throw new Error("The lease may have passed on; nothing may begin");
    return await this.#execute(delivery, { call, made: made.value, grant, again, hidden });
  }

  /** `tool.cancel`: a running call is killed and answers for itself; one in our hands that does not run is ended here. */
  async cancel(delivery: Delivery, { callId, reason }: ToolCancel): Promise<void> {
    this.#remember(callId);
    for (let attempt = 0; attempt < 3; attempt++) {
      const running = this.#running.get(callId);
      if (running) return running.abort(reason);
      const call = await this.#own(delivery, callId);
      if (!call || !["proposed", "judged", "decided", "executing"].includes(call.state)) return;
      if (await this.#try(delivery, settle(call, { outcome: "cancelled", text: `Cancelled: ${reason}` }))) {
        return;
      }
    }
  }

  /** A person has answered: a running tool that waits for it, or the call itself. */
  async answeredByPerson(delivery: Delivery, answer: QuestionAnswered): Promise<void> {
    const { callId } = answer;
    if (this.#questions.answered(answer)) return;
    const call = await readCall(this.options.context, callId);
    if (call && this.options.describer.find(call.tool)?.answeredElsewhere) {
      return await this.answered(delivery, callId, fromPerson(answer));
    }
    // It was for a process that is gone, or came when the call had ended.
    const unheard = withdrawal(callId, "Nobody waits for this answer any more.", { unheard: true });
    if (answer.outcome === "answered") await this.#try(delivery, { send: [unheard] });
  }

  /** Another actor has answered for the tool. An answer to a question of a dead process is nobody's. */
  async answered(delivery: Delivery, callId: string, end: End): Promise<void> {
    const call = await readCall(this.options.context, callId);
    if (call?.state !== "executing" || !this.options.describer.find(call.tool)?.answeredElsewhere) return;
    await this.#try(delivery, settle(call, end));
  }

  /** `request.failed`: what we asked of another actor did not reach it. */
  async requestFailed(delivery: Delivery, { callId, type, message }: RequestFailed): Promise<void> {
    const call = callId === undefined ? undefined : await readCall(this.options.context, callId);
    if (callId !== undefined) this.#questions.answered({ callId, outcome: "cancelled" });
    if (callId !== undefined && this.#running.has(callId)) return;
    const held = type === "tool.judge" ? "described" : "executing";
    if (call?.state !== held) return;
    await this.#try(delivery, settle(call, { outcome: "failed", text: `It could not be done: ${message}` }));
  }

  async #execute(
    delivery: Delivery,
    { call, made, grant, again, hidden }: {
      call: CallRow;
      made: DescribedCall;
      grant: ToolRun["grant"];
      again: boolean;
      hidden: ToolRun["hidden"];
    },
  ): Promise<Effects | void> {
    const { context } = this.options;
    const { callId } = call;
    const { bound, digest } = made;
    const place = { ...await this.options.placeOf(call.conversation), hidden };
    const abort = new AbortController();
    this.#running.set(callId, abort);
    try {
      const move: Op = { op: "call.move", callId, to: "executing", digest, grant };
      const question = bound.ask?.({ callId, turnId: call.turnId }, place);
      const started = await delivery.started({ callId }, {
        ops: again ? [] : [move],
        send: question ? [{ ...question, dedupe: `toolbox/ask/${callId}` }] : [],
      });
      if (!started.ok) return await this.#notBegun(call, grant);
      if (!bound.run) {
        return abort.signal.aborted ? settle(call, { outcome: "cancelled", text: "Cancelled." }) : undefined;
      }
      return await this.#work(delivery, { call, made, place, abort, grant });
    } finally {
      this.#running.delete(callId);
      context.log("debug", "tool call left the toolbox's hands", { callId, tool: call.tool });
    }
  }

  /** Either somebody ended the call first, and its end has been told, or everything is suspended: then approval holds it again. */
  async #notBegun({ callId, conversation }: CallRow, grant: ToolRun["grant"]): Promise<Effects | void> {
    const call = await readCall(this.options.context, callId);
    if (call?.state !== "judged" && call?.state !== "decided") return;
    return { send: [{ to: "approval", type: "tool.held", payload: { callId, conversation, grant } }] };
  }

  async #work(
    delivery: Delivery,
    { call, made, place, abort, grant }: {
      call: CallRow;
      made: DescribedCall;
      place: Place;
      abort: AbortController;
      grant: ToolRun["grant"];
    },
  ): Promise<Effects> {
    const { context, clock } = this.options;
    const { callId, conversation } = call;
    const fence = watchLease(context, clock);
    const signal = AbortSignal.any([abort.signal, delivery.signal, context.signal, fence.signal]);
    const over = new AbortController();
    const asked: Promise<QuestionAnswered>[] = [];
    const began = clock.monotonic();
    const io = {
      signal,
      onOutput: (stream: "stdout" | "stderr", chunk: string) =>
        context.emit({
          to: `conversation/${conversation}`,
          type: "tool.output",
          payload: { callId, stream, chunk },
        }),
      ask: (question: Question, until?: AbortSignal) => {
        const signals = [signal, over.signal, ...(until ? [until] : [])];
        const answer = this.#questions.ask(call, question, AbortSignal.any(signals));
        asked.push(answer);
        return answer;
      },
    };
    const stopped: Outcome = { ok: false, text: "It had not begun.", aborted: true };
    const outcome = signal.aborted
      ? stopped
      : await this.#attempt(call, () =>
        made.bound.run?.(place, io, made.described) ?? Promise.resolve(stopped));
    fence.stop();
    // What the tool left open (its server died, its time was over) nobody hears the answer of.
    over.abort(new Error("The call that asked has ended."));
    await Promise.allSettled(asked);
    const durationMs = Math.round(clock.monotonic() - began);
    const allowed = { by: grant.by, ref: grant.ref };
    return settle(call, { ...ending(outcome, abort.signal.aborted), durationMs, allowed });
  }

  /** A tool that throws is a failed call, not a dead toolbox: the turn goes on. */
  async #attempt(call: CallRow, run: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await run();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.options.context.log("warn", "tool failed", { callId: call.callId, tool: call.tool, error: text });
      return { ok: false, text: `The tool failed: ${text.slice(0, 2_000)}` };
    }
  }

  async #describe(call: Pick<CallRow, "tool" | "arguments" | "conversation">) {
    const place = await this.options.placeOf(call.conversation);
    return await describeCall(this.options.describer, { tool: call.tool, arguments: call.arguments, place });
  }

  #judge(call: CallRow, { tool, described, digest }: DescribedCall) {
    const { callId, turnId, conversation } = call;
    const context = contextOf(call);
    const payload = {
      callId,
      turnId,
      conversation,
      tool: call.tool,
      arguments: call.arguments,
      described,
      digest,
      schemaHash: tool.spec.schemaHash,
      trigger: call.triggeredBy,
      ...(context && { context }),
    };
    return { to: "approval", type: "tool.judge", payload };
  }

  /** The call, if it belongs to the conversation that speaks. */
  async #own(delivery: Delivery, callId: string): Promise<CallRow | undefined> {
    const call = await readCall(this.options.context, callId);
    return call && delivery.message.from === `conversation/${call.conversation}` ? call : undefined;
  }

  /** Commits now what hangs on no condition. */
  async #tell(send: Send): Promise<void> {
    const committed = await this.options.context.commit({ send: [send] });
    if (!committed.ok) throw new Error(`The toolbox could not commit: ${committed.error.message}`);
  }

  /** Commits now; false when a condition did not hold. Anything else that goes wrong is a crash. */
  async #try(delivery: Delivery, effects: Effects): Promise<boolean> {
    const committed = await delivery.started({}, effects);
    if (!committed.ok && committed.error.code !== "guard_failed") {
      throw new Error(`The toolbox could not commit: ${committed.error.message}`);
    }
    return committed.ok;
  }

  #remember(callId: string): void {
    this.#cancelled.add(callId);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > MAX_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest);
  }
}

/** A call of a process that died, with whatever it had asked a person. */
function abandoned(call: CallRow, { by, ref }: ToolRun["grant"]): Effects {
  const end = settle(call, { ...unknownOutcome, allowed: { by, ref } });
  return { ...end, send: [...end.send ?? [], withdrawal(call.callId, STOPPED)] };
}

function refuse(call: CallRow, now: string | undefined, granted: string): string | undefined {
  if (granted !== call.digest) return "The approval is for another call than this one, so nothing was done.";
  if (now !== granted) {
    return "What this call would do has changed since it was approved (a file it touches, the tool or the sandbox), " +
      "so nothing was done. Look again and propose it anew.";
  }
  return undefined;
}

function undescribed({ callId, itemId }: ToolRedescribe, message: string): Effects {
  const payload = { callId, itemId, message: message.slice(0, 2_000) };
  return { send: [{ to: "approval", type: "tool.undescribed", payload }] };
}
