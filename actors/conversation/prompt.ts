/**
 * What a model reads: the history as provider-neutral items. Works on a copy and repairs what a provider would refuse: every call has exactly
 * one result, directly after the calls of its step and in call order; a result without a call is left out; no text is empty or holds half a
 * surrogate pair. Equal histories give equal items, so that a provider's cache holds. Proven by `conversation_model_test.ts`.
 */
import type { HistoryItem, ModelRequest } from "../protocol/model.ts";
import type { ConversationState, Entry, Turn } from "./state.ts";
import { systemPrompt } from "./words.ts";

/** The request for one attempt at a step. */
export function modelRequest(
  state: ConversationState,
  turn: Turn,
  at: { step: number; attempt: number },
): ModelRequest {
  const shared = state.session?.source.kind === "zulip";
  return {
    turnId: turn.id,
    step: at.step,
    attempt: at.attempt,
    model: turn.model,
    system: systemPrompt(shared, state.instructions),
    tools: state.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: { ...parameters },
    })),
    items: historyItems(state.history, shared),
  };
}

/** The history as items. `shared`: several people write, so each message names its writer. */
export function historyItems(history: readonly Entry[], shared: boolean): HistoryItem[] {
  const results = new Map<string, Extract<Entry, { kind: "result" }>>();
  for (const entry of history) {
    if (entry.kind === "result" && !results.has(entry.callId)) results.set(entry.callId, entry);
  }
  const items: HistoryItem[] = [];
  let unanswered: Extract<Entry, { kind: "call" }>[] = [];
  let step = "";
  const answer = () => {
    for (const call of unanswered) items.push(resultItem(call, results.get(call.callId)));
    unanswered = [];
  };
  for (const entry of history) {
    if (entry.kind === "result") continue;
    const entryStep = "step" in entry ? entry.step : "";
    if (entryStep !== step) answer();
    step = entryStep;
    if (entry.kind === "call") unanswered.push(entry);
    const item = itemOf(entry, shared);
    if (item) items.push(item);
  }
  answer();
  return items;
}

function itemOf(entry: Exclude<Entry, { kind: "result" }>, shared: boolean): HistoryItem | undefined {
  switch (entry.kind) {
    case "user":
      return {
        type: "user",
        text: (shared || entry.author.kind === "schedule" ? named(entry) : entry.text).toWellFormed(),
      };
    case "context":
      return { type: "user", text: entry.text };
    case "assistant":
      if (entry.text.trim() === "") return undefined;
      return { type: "assistant", text: entry.text.toWellFormed(), ...signed(entry) };
    case "reasoning":
      return { type: "reasoning", text: entry.text.toWellFormed(), ...signed(entry) };
    case "call":
      return {
        type: "tool_call",
        callId: entry.callId,
        name: entry.tool,
        arguments: entry.arguments,
        ...signed(entry),
      };
    default:
      return entry satisfies never;
  }
}

function resultItem(
  call: Extract<Entry, { kind: "call" }>,
  result: Extract<Entry, { kind: "result" }> | undefined,
): HistoryItem {
  return {
    type: "tool_result",
    callId: call.callId,
    name: call.tool,
    ok: result?.ok ?? false,
    text: (result?.text ?? "aborted").toWellFormed(),
  };
}

function signed(entry: { readonly signature?: string | undefined }): { signature?: string } {
  return entry.signature === undefined ? {} : { signature: entry.signature };
}

/** A name cannot close its bracket and pass for somebody else's message. */
function named(entry: Extract<Entry, { kind: "user" }>): string {
  const name = entry.author.name.replace(/[[\]\s]+/g, " ").trim();
  const remark = entry.author.kind === "schedule" ? ", scheduled" : entry.addressed ? "" : ", not to you";
  return `[${name}${remark}] ${entry.text}`;
}
