/**
 * What the toolbox and approval say about a turn's tools and calls. An answer counts only for a call that is open in the running turn; anything
 * else is late and changes nothing.
 */
import type { PayloadOf } from "../protocol.ts";
import { endCall } from "./calls.ts";
import type { Draft } from "./draft.ts";
import { type Call, openCalls } from "./state.ts";
import { askModel, settle } from "./step.ts";
import { abortTurn } from "./turn.ts";

/** The turn may begin: it knows its tools, its model and its words. They are written down only when they changed. */
export function onToolsListed(draft: Draft, listed: PayloadOf<"tools.listed">): void {
  const turn = draft.state.turn;
  if (!turn || turn.id !== listed.turnId || turn.phase !== "listing") return;
  const { tools, instructions, model } = draft.state;
  const same = JSON.stringify(listed.tools) === JSON.stringify(tools);
  const said = listed.instructions ?? "";
  draft.emit("tools_listed", {
    turnId: turn.id,
    tools: same ? undefined : listed.tools,
    // A person's own choice of a model comes before the profile's.
    model: model === undefined ? listed.model : undefined,
    instructions: said === instructions ? undefined : said,
  });
  askModel(draft, draft.state.turn ?? turn, { step: 0, attempt: 0 });
}

/** A call has its result. */
export function onToolResult(draft: Draft, ended: PayloadOf<"tool.result">): void {
  const { callId, stopTurn, ...result } = ended;
  if (!endCall(draft, callId, result)) return;
  const turn = draft.state.turn;
  if (turn && stopTurn) return abortTurn(draft, turn, { reason: "interrupted" });
  settle(draft);
}

/** A call waits for a person. */
export function onCallWaiting(draft: Draft, waiting: PayloadOf<"call.waiting">): void {
  const call = openCall(draft, waiting.callId);
  if (!call) return;
  const raised = { turnId: call.turnId, callId: waiting.callId, itemId: waiting.itemId };
  switch (waiting.kind) {
    case "approval":
      return draft.emit("exec_approval_request", raised);
    case "question":
      return draft.emit("request_user_input", raised);
    case "elicitation":
      return draft.emit("elicitation_request", raised);
    default:
      waiting.kind satisfies never;
  }
}

/** A person decided, or nobody did in time; the call's result follows by itself. */
export function onCallDecided(draft: Draft, decided: PayloadOf<"call.decided">): void {
  const call = openCall(draft, decided.callId);
  if (!call || call.state !== "waiting") return;
  const { callId, itemId, decision, by, changes } = decided;
  draft.emit("request_resolved", { turnId: call.turnId, callId, itemId, decision, by, changes });
}

function openCall(draft: Draft, callId: string): (Call & { readonly turnId: string }) | undefined {
  const turn = draft.state.turn;
  const call = turn && openCalls(turn).find((call) => call.callId === callId && call.state !== "begun");
  return turn && call ? { ...call, turnId: turn.id } : undefined;
}
