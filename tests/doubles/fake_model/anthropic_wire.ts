/** The Anthropic Messages protocol of the fake model: named events, blocks with an index, usage in two places. */

import type { FinishReason, SeenMessage } from "./script.ts";
import { partsText, record, records, sse, str, type Wire, type Writer } from "./wire.ts";

const STOPS: Record<FinishReason, string> = {
  stop: "end_turn",
  tool_use: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
};

export const anthropicWire: Wire = {
  protocol: "anthropic",
  overflowMessage: "prompt is too long: 210000 tokens > 200000 maximum",
  read(body) {
    const { model, system, messages, tools } = record(body);
    return {
      model: str(model),
      system: partsText(system),
      tools: records(tools).map((tool) => str(tool.name)),
      messages: records(messages).flatMap(readMessage),
    };
  },
  open: (model) => new AnthropicWriter(model),
  refusal: (type, message) =>
    JSON.stringify({ type: "error", error: { type, message }, request_id: "req_fake" }),
};

function readMessage(message: Record<string, unknown>): SeenMessage[] {
  const blocks = records(message.content);
  const results = blocks.filter((block) => block.type === "tool_result").map((block): SeenMessage => ({
    role: "tool",
    text: partsText(block.content),
    callId: str(block.tool_use_id),
  }));
  const calls = blocks.filter((block) => block.type === "tool_use")
    .map((block) => ({ id: str(block.id), name: str(block.name), arguments: JSON.stringify(block.input) }));
  const text = partsText(typeof message.content === "string" ? message.content : blocks.filter(isText));
  const reasoning = blocks.map((block) => str(block.thinking)).join("");
  if (message.role === "assistant") return [{ role: "assistant", text, reasoning, calls }];
  return text === "" && results.length > 0 ? results : [...results, { role: "user", text }];
}

function isText(block: Record<string, unknown>): boolean {
  return block.type === "text";
}

class AnthropicWriter implements Writer {
  readonly #model: string;
  #index = -1;

  constructor(model: string) {
    this.#model = model;
  }

  start(): string {
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 5,
      output_tokens: 1,
    };
    const message = {
      id: "msg_fake",
      type: "message",
      role: "assistant",
      model: this.#model,
      content: [],
      usage,
    };
    return sse({ type: "message_start", message }, "message_start") + sse({ type: "ping" }, "ping");
  }

  text(chunks: readonly string[]): string[] {
    return this.#block({ type: "text", text: "" }, chunks.map((text) => ({ type: "text_delta", text })));
  }

  reasoning(chunks: readonly string[], signature: string): string[] {
    const deltas = chunks.map((thinking) => ({ type: "thinking_delta", thinking }));
    const block = { type: "thinking", thinking: "", signature: "" };
    return this.#block(block, [...deltas, { type: "signature_delta", signature }]);
  }

  call(id: string, name: string, fragments: readonly string[]): string[] {
    const deltas = fragments.map((partial_json) => ({ type: "input_json_delta", partial_json }));
    return this.#block({ type: "tool_use", id, name, input: {} }, deltas);
  }

  error(type: string, message: string): string {
    return sse({ type: "error", error: { type, message } }, "error");
  }

  finish(reason: FinishReason): string[] {
    const delta = { stop_reason: STOPS[reason], stop_sequence: null };
    return [
      sse({ type: "message_delta", delta, usage: { output_tokens: 42 } }, "message_delta"),
      sse({ type: "message_stop" }, "message_stop"),
    ];
  }

  #block(content_block: unknown, deltas: readonly unknown[]): string[] {
    const index = ++this.#index;
    const event = (type: string, more: object) => sse({ type, index, ...more }, type);
    return [
      event("content_block_start", { content_block }),
      ...deltas.map((delta) => event("content_block_delta", { delta })),
      event("content_block_stop", {}),
    ];
  }
}
