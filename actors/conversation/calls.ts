/**
 * The calls of one step: begun in the log, proposed to the toolbox, ended with exactly one result. The calls of a step run one after another
 * in the model's order, unless every one of them is of a tool that may run side by side. This actor only inserts a call's row; whoever has
 * the call in hand moves it, also to `cancelled` (see `lib/call_state.ts`), so a stop can never race with a call that just began to run.
 */
import type { CallAllowed, CallBeginType, CallEndType, CallOutcome } from "../../lib/conversation_event.ts";
import type { ModelItem } from "../protocol/model.ts";
import type { Requester } from "../protocol/tools.ts";
import type { Draft } from "./draft.ts";
import { repeatKey } from "./evolve.ts";
import { type Call, openCalls, type Turn } from "./state.ts";
import { result } from "./words.ts";

/** Calls of one step that are carried out; the rest are answered with an error. */
export const MAX_CALLS_PER_STEP = 64;

/** Calls that are open at once. */
const MAX_PARALLEL = 8;

/** A call made this often in one turn gets a remark; at `LOOP_CALLS` the turn ends. */
const REPEATED_CALLS = 5;

/** See `REPEATED_CALLS`. */
export const LOOP_CALLS = 8;

/** What `tool.propose` carries of arguments, in UTF-16 units. */
const MAX_ARGUMENT_CHARS = 1_000_000;

/** See `requestersOf`. */
const MAX_REQUESTERS = 1_000;

/** What a result may hold, in UTF-16 units (about 10,000 tokens). */
const MAX_RESULT_CHARS = 40_000;

/** Writes a model's call to the log. Its id is unique in the whole database and the same whenever this is decided again. */
export function beginCall(
  draft: Draft,
  item: Extract<ModelItem, { type: "tool_call" }>,
  at: { turnId: string; step: number; attempt: number },
): void {
  const n = draft.state.turn?.calls.length ?? 0;
  const callId = `${at.turnId}.${at.step}.${n}`;
  const tool = item.name.slice(0, 200);
  draft.emit(beginType(tool), {
    ...at,
    callId,
    modelCallId: item.callId,
    tool,
    arguments: item.arguments,
    signature: item.signature,
  });
  const text = n >= MAX_CALLS_PER_STEP
    ? result.tooMany(MAX_CALLS_PER_STEP)
    : item.arguments.length > MAX_ARGUMENT_CHARS
    ? result.tooLong(MAX_ARGUMENT_CHARS)
    : undefined;
  if (text !== undefined) endCall(draft, callId, { outcome: "invalid", text });
}

/** Sends off what may be on its way now. */
export function proposeCalls(draft: Draft, turn: Turn): void {
  const open = openCalls(turn);
  const parallel = new Set(draft.state.tools.filter((tool) => tool.parallel).map((tool) => tool.name));
  const places = open.every((call) => parallel.has(call.tool)) ? MAX_PARALLEL : 1;
  const underway = open.filter((call) => call.state !== "begun").length;
  for (const call of open.filter((call) => call.state === "begun").slice(0, Math.max(0, places - underway))) {
    propose(draft, turn, call);
  }
}

function propose(draft: Draft, turn: Turn, call: Call): void {
  draft.emit("tool_call_proposed", { turnId: turn.id, callId: call.callId });
  draft.op({
    op: "call.propose",
    callId: call.callId,
    turnId: turn.id,
    modelCallId: call.modelCallId,
    tool: call.tool,
    arguments: call.arguments,
    triggeredBy: triggerOf(draft, turn),
  });
  draft.send("toolbox", "tool.propose", {
    callId: call.callId,
    turnId: turn.id,
    tool: call.tool,
    arguments: call.arguments,
    requestedBy: requestersOf(draft, turn),
  });
}

/** Whose words are in this turn, each once: approval may have to leave its calls to others. A schedule is nobody. */
function requestersOf(draft: Draft, turn: Turn): Requester[] {
  const known = new Map<string, Requester>();
  for (const entry of draft.state.history) {
    if (entry.kind !== "user" || entry.turnId !== turn.id || entry.author.kind === "schedule") continue;
    const { kind, id } = entry.author;
    known.set(`${kind} ${id}`, { kind, id });
  }
  return [...known.values()].slice(-MAX_REQUESTERS);
}

/** A turn in which a schedule speaks is a schedule's, whoever else has a word in it. */
function triggerOf(draft: Draft, turn: Turn): "person" | "schedule" {
  const scheduled = draft.state.history.some((entry) =>
    entry.kind === "user" && entry.turnId === turn.id && entry.author.kind === "schedule"
  );
  return scheduled ? "schedule" : "person";
}

/** How a call ended. */
export interface CallResult {
  readonly outcome: CallOutcome;
  readonly text: string;
  readonly exitCode?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly allowed?: CallAllowed | undefined;
}

/** Records a call's one result; false when the call is not open (late, or another turn's). */
export function endCall(draft: Draft, callId: string, ended: CallResult): boolean {
  const turn = draft.state.turn;
  const call = turn?.calls.find((call) => call.callId === callId);
  if (!turn || !call || call.state === "ended") return false;
  const count = turn.repeats[repeatKey(call.tool, call.arguments)] ?? 0;
  const edited = call.edited ? result.edited(call.edited.by, call.edited.changes) : "";
  const remark = count === REPEATED_CALLS ? result.repeated(count) : "";
  draft.emit(endType(call.tool), {
    turnId: turn.id,
    callId,
    tool: call.tool,
    outcome: ended.outcome,
    text: edited + cutMiddle(ended.text, MAX_RESULT_CHARS) + remark,
    exitCode: ended.exitCode,
    durationMs: ended.durationMs,
    allowed: ended.allowed,
  });
  return true;
}

/** Ends every open call of a turn that stops. Calls on their way are withdrawn; `crashed` ones may have run. */
export function cancelCalls(draft: Draft, turn: Turn, options: { crashed: boolean }): void {
  for (const call of openCalls(turn)) {
    if (call.state !== "begun") {
      const cancel = { callId: call.callId, reason: "the turn was stopped" };
      draft.send("toolbox", "tool.cancel", cancel);
      draft.send("approval", "tool.cancel", cancel);
    }
    endCall(draft, call.callId, cancelled(call, draft.env.now, options.crashed));
  }
}

function cancelled(call: Call, now: number, crashed: boolean): CallResult {
  if (call.since === undefined) return { outcome: "cancelled", text: result.neverStarted };
  const seconds = (Math.max(0, now - call.since) / 1000).toFixed(1);
  return crashed
    ? { outcome: "unknown", text: result.unknownAfter(seconds) }
    : { outcome: "cancelled", text: result.abortedAfter(seconds) };
}

/** Ends the calls of a step that failed for good; none of them has been proposed. */
export function dropCalls(draft: Draft, turn: Turn, text: string): void {
  for (const call of openCalls(turn)) endCall(draft, call.callId, { outcome: "cancelled", text });
}

/** Whether the model keeps making one and the same call. */
export function isLooping(turn: Turn): boolean {
  return openCalls(turn).some((call) =>
    (turn.repeats[repeatKey(call.tool, call.arguments)] ?? 0) >= LOOP_CALLS
  );
}

/** The calls that an attempt made. */
export function callsOf(turn: Turn, attempt: number): readonly Call[] {
  return turn.calls.filter((call) => call.attempt === attempt);
}

/** Keeps beginning and end, says what was left out, and never cuts a character in two. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = text.slice(0, Math.ceil(maxChars / 2)).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(text.length - Math.floor(maxChars / 2)).replace(/^[\uDC00-\uDFFF]/, "");
  const gone = text.length - head.length - tail.length;
  return `${head}\n[… ${gone} of ${text.length} characters left out …]\n${tail}`;
}

function beginType(tool: string): CallBeginType {
  return `${family(tool)}_begin`;
}

function endType(tool: string): CallEndType {
  return `${family(tool)}_end`;
}

function family(tool: string): "tool_call" | "exec_command" | "mcp_tool_call" | "patch_apply" {
  if (tool === "exec_command") return "exec_command";
  if (tool === "apply_patch") return "patch_apply";
  return tool.startsWith("mcp__") ? "mcp_tool_call" : "tool_call";
}
