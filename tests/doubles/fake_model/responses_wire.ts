/** The OpenAI Responses protocol of the fake model: typed events, items that are added, grow and are done. */

import type { FinishReason, SeenMessage } from "./script.ts";
import { partsText, record, records, sse, str, type Wire, type Writer } from "./wire.ts";

export const responsesWire: Wire = {
  protocol: "responses",
  overflowMessage:
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  read(body) {
    const { model, instructions, input, tools } = record(body);
    const all = records(input).map(readItem);
    const system = all.filter((message) => message.role === "system").map((message) => message.text);
    return {
      model: str(model),
      system: [str(instructions), ...system].filter((text) => text !== "").join("\n"),
      tools: records(tools).map((tool) => str(tool.name)),
      messages: all.filter((message) => message.role !== "system"),
    };
  },
  open: (model) => new ResponsesWriter(model),
  refusal: (type, message) =>
    JSON.stringify({ error: { message, type: "invalid_request_error", code: type } }),
};

function readItem(item: Record<string, unknown>): SeenMessage {
  switch (item.type) {
    case "function_call":
      return {
        role: "assistant",
        text: "",
        calls: [{ id: str(item.call_id), name: str(item.name), arguments: str(item.arguments) }],
      };
    case "function_call_output":
      return { role: "tool", text: partsText(item.output), callId: str(item.call_id) };
    case "reasoning":
      return { role: "assistant", text: "", reasoning: str(item.encrypted_content) };
    default: {
      const role = item.role === "user" || item.role === "assistant" ? item.role : "system";
      return { role, text: partsText(item.content) };
    }
  }
}

class ResponsesWriter implements Writer {
  readonly #model: string;
  readonly #output: object[] = [];
  #sequence = 0;

  constructor(model: string) {
    this.#model = model;
  }

  start(): string {
    return this.#event("response.created", { response: this.#response("in_progress") });
  }

  text(chunks: readonly string[]): string[] {
    const id = `msg_${this.#output.length}`;
    const part = { type: "output_text", text: chunks.join(""), annotations: [] };
    const item = { type: "message", id, role: "assistant", status: "completed", content: [part] };
    const at = { item_id: id, content_index: 0 };
    return this.#item({ ...item, status: "in_progress", content: [] }, item, [
      ["response.content_part.added", { ...at, part: { ...part, text: "" } }],
      ...chunks.map((delta) => ["response.output_text.delta", { ...at, delta }] as const),
      ["response.output_text.done", { ...at, text: part.text }],
      ["response.content_part.done", { ...at, part }],
    ]);
  }

  reasoning(chunks: readonly string[], signature: string): string[] {
    const id = `rs_${this.#output.length}`;
    const summary = [{ type: "summary_text", text: chunks.join("") }];
    const item = { type: "reasoning", id, summary, encrypted_content: signature };
    return this.#item(
      { ...item, summary: [], encrypted_content: null },
      item,
      chunks.map((
        delta,
      ) => ["response.reasoning_summary_text.delta", { item_id: id, summary_index: 0, delta }]),
    );
  }

  call(id: string, name: string, fragments: readonly string[]): string[] {
    const itemId = `fc_${this.#output.length}`;
    const text = fragments.join("");
    const item = {
      type: "function_call",
      id: itemId,
      call_id: id,
      name,
      arguments: text,
      status: "completed",
    };
    return this.#item({ ...item, arguments: "", status: "in_progress" }, item, [
      ...fragments.map((delta) =>
        ["response.function_call_arguments.delta", { item_id: itemId, delta }] as const
      ),
      ["response.function_call_arguments.done", { item_id: itemId, arguments: text }],
    ]);
  }

  error(type: string, message: string): string {
    return this.#event("response.failed", {
      response: { ...this.#response("failed"), error: { code: type, message } },
    });
  }

  finish(reason: FinishReason): string[] {
    const usage = {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 42,
      total_tokens: 162,
    };
    const cut = reason === "length"
      ? "max_output_tokens"
      : reason === "refusal"
      ? "content_filter"
      : undefined;
    const response = {
      ...this.#response(cut === undefined ? "completed" : "incomplete"),
      usage,
      incomplete_details: cut === undefined ? null : { reason: cut },
    };
    return [this.#event(cut === undefined ? "response.completed" : "response.incomplete", { response })];
  }

  #item(added: object, done: object, between: readonly (readonly [string, object])[]): string[] {
    const output_index = this.#output.length;
    this.#output.push(done);
    return [
      this.#event("response.output_item.added", { output_index, item: added }),
      ...between.map(([type, fields]) => this.#event(type, { output_index, ...fields })),
      this.#event("response.output_item.done", { output_index, item: done }),
    ];
  }

  #response(status: string) {
    return { id: "resp_fake", object: "response", status, model: this.#model, output: this.#output };
  }

  #event(type: string, fields: object): string {
    return sse({ type, sequence_number: this.#sequence++, ...fields }, type);
  }
}
