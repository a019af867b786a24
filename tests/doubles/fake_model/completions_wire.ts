/** The chat completions protocol of the fake model: nameless events, calls by index, usage in a last chunk, `[DONE]`. */

import type { FinishReason, SeenMessage } from "./script.ts";
import { partsText, record, records, sse, str, type Wire, type Writer } from "./wire.ts";

const STOPS: Record<FinishReason, string> = {
  stop: "stop",
  tool_use: "tool_calls",
  length: "length",
  refusal: "content_filter",
};

export const completionsWire: Wire = {
  protocol: "completions",
  overflowMessage: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
  read(body) {
    const { model, messages, tools } = record(body);
    const all = records(messages).map(readMessage);
    return {
      model: str(model),
      system: all.filter((message) => message.role === "system").map((message) => message.text).join("\n"),
      tools: records(tools).map((tool) => str(record(tool.function).name)),
      messages: all.filter((message) => message.role !== "system"),
    };
  },
  open: (model) => new CompletionsWriter(model),
  refusal: (type, message) => JSON.stringify({ error: { message, type, code: type, param: null } }),
};

function readMessage(message: Record<string, unknown>): SeenMessage {
  const text = partsText(message.content);
  if (message.role === "tool") return { role: "tool", text, callId: str(message.tool_call_id) };
  if (message.role === "user") return { role: "user", text };
  if (message.role !== "assistant") return { role: "system", text };
  const calls = records(message.tool_calls).map(({ id, function: fn }) => ({
    id: str(id),
    name: str(record(fn).name),
    arguments: str(record(fn).arguments),
  }));
  return { role: "assistant", text, reasoning: str(message.reasoning_content), calls };
}

class CompletionsWriter implements Writer {
  readonly #model: string;
  #calls = 0;

  constructor(model: string) {
    this.#model = model;
  }

  start(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  text(chunks: readonly string[]): string[] {
    return chunks.map((content) => this.#chunk({ content }));
  }

  reasoning(chunks: readonly string[]): string[] {
    return chunks.map((reasoning_content) => this.#chunk({ reasoning_content }));
  }

  call(id: string, name: string, fragments: readonly string[]): string[] {
    const index = this.#calls++;
    const first = { index, id, type: "function", function: { name, arguments: "" } };
    return [
      this.#chunk({ tool_calls: [first] }),
      ...fragments.map((piece) => this.#chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  }

  error(type: string, message: string): string {
    return sse({ error: { type, code: type, message } });
  }

  finish(reason: FinishReason): string[] {
    const usage = { prompt_tokens: 120, completion_tokens: 42, prompt_tokens_details: { cached_tokens: 20 } };
    return [
      this.#chunk({}, STOPS[reason]),
      sse({ ...this.#head(), choices: [], usage }),
      sse("[DONE]"),
    ];
  }

  #head() {
    return { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1, model: this.#model };
  }

  #chunk(delta: object, finish_reason: string | null = null): string {
    return sse({ ...this.#head(), choices: [{ index: 0, delta, finish_reason }] });
  }
}
