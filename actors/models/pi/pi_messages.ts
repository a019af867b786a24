/**
 * Translates between our history items and the messages of pi-ai.
 *
 * Pure. Promises, whatever the history looks like: each tool call is followed directly by its results in call order;
 * call ids are unique; a signature goes only to the model that made it; reasoning is never sent without what followed
 * it, nor unsigned. It does not count tokens and does not cut the history.
 * Proved by `pi_messages_test.ts`.
 */

import type { AssistantMessage, Message, ToolCall } from "@earendil-works/pi-ai";
import type { HistoryItem, ModelItem } from "../../protocol/model.ts";
import { claimCallId } from "./call_ids.ts";
import { openSignature, sealSignature } from "./opaque_signature.ts";

/** The model that will read the messages. */
export type PiTarget = Pick<AssistantMessage, "api" | "provider" | "model">;

type AssistantPart = AssistantMessage["content"][number];
type Part = { readonly block: AssistantPart; readonly call?: Call };
type ToolResult = Extract<HistoryItem, { type: "tool_result" }>;
interface Call {
  /** The id on the wire. */
  readonly id: string;
  readonly name: string;
  result?: ToolResult;
}
type Group = { readonly role: "user"; readonly text: string } | {
  readonly role: "assistant";
  readonly parts: Part[];
};

/** Names a target the way signatures do. */
export function targetName({ provider, model }: Pick<PiTarget, "provider" | "model">): string {
  return `${provider}/${model}`;
}

/** Turns the history into messages for `target`. */
export function toPiMessages(items: readonly HistoryItem[], target: PiTarget): Message[] {
  return groupItems(items, targetName(target)).flatMap((group) =>
    group.role === "user"
      ? [{ role: "user" as const, content: group.text, timestamp: 0 }]
      : assistantMessages(group.parts, target)
  );
}

function groupItems(items: readonly HistoryItem[], modelName: string): Group[] {
  const groups: Group[] = [];
  const taken = new Set<string>();
  const open = new Map<string, Call>();
  let parts: Part[] | undefined;
  for (const item of items) {
    if (item.type === "user") {
      parts = undefined;
      if (item.text.trim() !== "") groups.push({ role: "user", text: item.text });
    } else if (item.type === "tool_result") {
      parts = undefined;
      const call = open.get(item.callId);
      // A result whose call is not in the history would be refused by every provider.
      if (call !== undefined && call.result === undefined) call.result = item;
    } else {
      if (parts === undefined) groups.push({ role: "assistant", parts: parts = [] });
      const part = toPart(item, modelName, taken);
      if (part === undefined) continue;
      parts.push(part);
      if (item.type === "tool_call" && part.call !== undefined) open.set(item.callId, part.call);
    }
  }
  return groups;
}

function toPart(item: ModelItem, modelName: string, taken: Set<string>): Part | undefined {
  const signature = openSignature(item.signature, modelName);
  switch (item.type) {
    case "assistant":
      if (item.text.trim() === "") return undefined;
      return {
        block: { type: "text", text: item.text, ...(signature && { textSignature: signature.value }) },
      };
    case "reasoning":
      if (signature === undefined) return undefined;
      return {
        block: {
          type: "thinking",
          thinking: item.text,
          thinkingSignature: signature.value,
          ...(signature.redacted && { redacted: true }),
        },
      };
    case "tool_call": {
      const callId = claimCallId(item.callId, taken);
      const id = signature === undefined ? callId : `${callId}|${signature.value}`;
      const block: ToolCall = {
        type: "toolCall",
        id,
        name: item.name,
        arguments: readArguments(item.arguments),
      };
      return { block, call: { id, name: item.name } };
    }
  }
}

function assistantMessages(parts: readonly Part[], target: PiTarget): Message[] {
  const last = parts.findLastIndex((part) => part.block.type !== "thinking");
  const kept = parts.slice(0, last + 1);
  if (kept.length === 0) return [];
  const calls = kept.flatMap((part) => part.call === undefined ? [] : [part.call]);
  const message: AssistantMessage = {
    role: "assistant",
    content: kept.map((part) => part.block),
    ...target,
    usage: NO_USAGE,
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp: 0,
  };
  return [message, ...calls.map(resultMessage)];
}

function resultMessage(call: Call): Message {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{
      type: "text",
      text: call.result?.text || (call.result ? "(no output)" : "(no result is known)"),
    }],
    isError: call.result?.ok !== true,
    timestamp: 0,
  };
}

const NO_USAGE: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Providers take objects only. Text that is none is told to the model by the call's result, not here. */
function readArguments(text: string, depth = 0): ToolCall["arguments"] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof value === "string" && depth === 0) return readArguments(value, 1);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return value as ToolCall["arguments"]; // JSON.parse makes nothing but JSON values
}

/** What the stream knows of a tool call that its message does not hold. */
export interface CallFacts {
  readonly callId: string;
  /** The JSON text as the model wrote it. */
  readonly argumentsText: string;
}

/** Turns one complete content block into an item, or nothing when it is empty. */
export function fromPiBlock(
  block: AssistantPart,
  modelName: string,
  call?: CallFacts,
): ModelItem | undefined {
  const sealed = (value: string | undefined, redacted = false) =>
    value
      ? { signature: sealSignature({ model: modelName, value, ...(redacted && { redacted: true }) }) }
      : {};
  switch (block.type) {
    case "text":
      return block.text.trim() === ""
        ? undefined
        : { type: "assistant", text: block.text, ...sealed(block.textSignature) };
    case "thinking": {
      // Signed text must go back unchanged, so it is not trimmed.
      const text = block.redacted ? "" : block.thinking;
      if (text.trim() === "" && !block.thinkingSignature) return undefined;
      return { type: "reasoning", text, ...sealed(block.thinkingSignature, block.redacted) };
    }
    case "toolCall": {
      const itemId = block.id.split("|")[1];
      return {
        type: "tool_call",
        callId: call?.callId ?? block.id,
        // An empty name is answered as an unknown tool; it must still be a valid item.
        name: block.name || "(unnamed)",
        arguments: call?.argumentsText || JSON.stringify(block.arguments),
        ...sealed(itemId),
      };
    }
  }
}
