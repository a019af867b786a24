import { deepEqual, equal, ok } from "node:assert/strict";
import type { Message, Model } from "@earendil-works/pi-ai";
import type { HistoryItem } from "../../protocol/model.ts";
import { claimCallId } from "./call_ids.ts";
import { openSignature, sealSignature } from "./opaque_signature.ts";
import { fromPiBlock, toPiMessages } from "./pi_messages.ts";
import { type ModelEndpoints, resolveModel } from "./pi_model.ts";
import { readProviderEvent } from "./provider_event.ts";

const target = { api: "anthropic-messages", provider: "anthropic", model: "m" };
const call = (callId: string, args = "{}"): HistoryItem => ({
  type: "tool_call",
  callId,
  name: "t",
  arguments: args,
});
const result = (callId: string, text: string, ok = true): HistoryItem => ({
  type: "tool_result",
  callId,
  name: "t",
  ok,
  text,
});
const user = (text: string): HistoryItem => ({ type: "user", text });

/** Messages as short words. */
function words(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    switch (message.role) {
      case "assistant":
        return `assistant(${
          message.content.map((part) => part.type === "toolCall" ? `call:${part.id}` : part.type).join(",")
        })`;
      case "toolResult":
        return `result:${message.toolCallId}=${
          message.content.map((part) => part.type === "text" && part.text)
        }${message.isError ? "!" : ""}`;
      default:
        return message.role;
    }
  });
}

const HISTORIES: readonly (readonly [string, readonly HistoryItem[], readonly string[]])[] = [
  ["keeps a plain exchange", [user("a"), { type: "assistant", text: "b" }, user("c")], [
    "user",
    "assistant(text)",
    "user",
  ]],
  ["puts results directly after their calls, in call order", [
    user("a"),
    call("1"),
    call("2"),
    user("steer"),
    result("2", "two"),
    result("1", "one", false),
  ], ["user", "assistant(call:1,call:2)", "result:1=one!", "result:2=two", "user"]],
  ["answers a call whose result is not known", [user("a"), call("1"), user("b")], [
    "user",
    "assistant(call:1)",
    "result:1=(no result is known)!",
    "user",
  ]],
  ["drops a result whose call is not in the history", [user("a"), result("9", "x")], ["user"]],
  ["makes ids that repeat unique, with their results", [
    user("a"),
    call("call_0"),
    result("call_0", "first"),
    call("call_0"),
    result("call_0", "second"),
  ], [
    "user",
    "assistant(call:call_0)",
    "result:call_0=first",
    "assistant(call:call_0_2)",
    "result:call_0_2=second",
  ]],
  ["names an empty output", [user("a"), call("1"), result("1", "")], [
    "user",
    "assistant(call:1)",
    "result:1=(no output)",
  ]],
  ["drops blank text and unsigned reasoning", [
    user(" "),
    { type: "assistant", text: "\n" },
    { type: "reasoning", text: "hm" },
    { type: "assistant", text: "b" },
  ], ["assistant(text)"]],
];

for (const [name, items, expected] of HISTORIES) {
  Deno.test(`toPiMessages() ${name}`, () => {
    deepEqual(words(toPiMessages(items, target)), expected);
  });
}

Deno.test("toPiMessages() gives redacted reasoning back to its model only", () => {
  const block = { type: "thinking" as const, thinking: "[x]", thinkingSignature: "opaque", redacted: true };
  const reasoning = fromPiBlock(block, "anthropic/m");
  ok(reasoning?.type === "reasoning");
  const items: HistoryItem[] = [reasoning, { type: "assistant", text: "b" }];

  const [same] = toPiMessages(items, target);
  const [other] = toPiMessages(items, { ...target, model: "n" });

  equal(reasoning.text, "");
  deepEqual(same?.role === "assistant" && same.content[0], { ...block, thinking: "" });
  deepEqual(other?.role === "assistant" && other.content.map((part) => part.type), ["text"]);
});

const ARGUMENTS: readonly (readonly [string, object])[] = [
  ['{"a":1}', { a: 1 }],
  ["", {}],
  ["null", {}],
  ['"{\\"a\\":1}"', { a: 1 }],
  ["[1]", {}],
  ['{"a":', {}],
];

for (const [text, expected] of ARGUMENTS) {
  Deno.test(`toPiMessages() sends the arguments '${text}' as an object`, () => {
    const [message] = toPiMessages([call("1", text)], target);

    const part = message?.role === "assistant" ? message.content[0] : undefined;
    deepEqual(part?.type === "toolCall" && part.arguments, expected);
  });
}

Deno.test("fromPiBlock() never makes an invalid item of a call without a name", () => {
  const item = fromPiBlock({ type: "toolCall", id: "x|fc_1", name: "", arguments: {} }, "openai/m");

  equal(item?.type === "tool_call" && item.name, "(unnamed)");
});

Deno.test("signature is readable by the model that made it only", () => {
  const sealed = sealSignature({ model: "a/b", value: "v" });

  equal(openSignature(sealed, "a/b")?.value, "v");
  equal(openSignature(sealed, "a/c"), undefined);
  equal(openSignature("not json", "a/b"), undefined);
  equal(openSignature('{"model":1}', "a/b"), undefined);
  equal(openSignature(undefined, "a/b"), undefined);
});

Deno.test("claimCallId() stays within 40 acceptable characters, also for a copy", () => {
  const taken = new Set<string>();

  const ids = [
    claimCallId("é|".repeat(300), taken),
    claimCallId("é|".repeat(300), taken),
    claimCallId("", taken),
  ];

  equal(new Set(ids).size, 3);
  for (const id of ids) ok(/^[A-Za-z0-9_-]{1,40}$/.test(id), id);
});

const known: Model<"openai-responses"> = {
  id: "gpt-known",
  name: "Known",
  api: "openai-responses",
  provider: "openai",
  baseUrl: "https://api.openai.com/v1",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 10,
  maxTokens: 5,
};
const catalog = { anthropic: new Map(), openai: new Map([[known.id, known]]) };

const RESOLUTIONS: readonly (readonly [string, ModelEndpoints, string])[] = [
  [
    "anthropic/claude-x",
    { anthropic: { apiKey: "k" } },
    "anthropic-messages https://api.anthropic.com claude-x",
  ],
  [
    "anthropic/claude-x",
    { anthropic: { apiKey: "k", baseUrl: "http://h/v1/" } },
    "anthropic-messages http://h claude-x",
  ],
  ["anthropic/claude-x", {}, "auth"],
  ["openai/gpt-known", { openai: { apiKey: "k" } }, "openai-responses https://api.openai.com/v1 gpt-known"],
  ["openai/gpt-new", { openai: { apiKey: "k" } }, "openai-responses https://api.openai.com/v1 gpt-new"],
  ["openai/gpt-known", {}, "auth"],
  ["openai/q", { openai: { baseUrl: "http://vllm:8000/v1" } }, "openai-completions http://vllm:8000/v1 q"],
  [
    "openai-compatible/meta/llama",
    { openai: { baseUrl: "http://h:1" } },
    "openai-completions http://h:1/v1 meta/llama",
  ],
  ["openai-compatible/q", {}, "bad_request"],
  ["ollama/qwen3:8b", {}, "openai-completions http://127.0.0.1:11434/v1 qwen3:8b"],
  ["gemini/x", {}, "bad_request"],
  ["nothing", {}, "bad_request"],
  ["openai/", { openai: { apiKey: "k" } }, "bad_request"],
];

for (const [name, endpoints, expected] of RESOLUTIONS) {
  Deno.test(`resolveModel() takes ${name} with ${JSON.stringify(endpoints)} to ${expected}`, () => {
    const resolved = resolveModel(name, { endpoints, catalog });

    const told = resolved.ok
      ? `${resolved.value.api} ${resolved.value.model.baseUrl} ${resolved.value.model.id}`
      : resolved.error.class;
    equal(told, expected);
  });
}

Deno.test("E23: keep-alives are no progress, everything else is", () => {
  equal(readProviderEvent({ type: "ping" }).progress, false);
  equal(readProviderEvent({ type: "content_block_delta" }).progress, true);
  equal(readProviderEvent({ type: "something_new" }).progress, true);
  equal(readProviderEvent({ choices: [] }).progress, true);
});

Deno.test("the end of a stream is seen in each protocol", () => {
  equal(readProviderEvent({ type: "message_stop" }).finished, true);
  equal(readProviderEvent({ type: "response.completed" }).finished, true);
  equal(readProviderEvent({ choices: [{ finish_reason: "stop", delta: {} }] }).finished, true);
  equal(readProviderEvent({ choices: [{ finish_reason: null, delta: { content: "x" } }] }).finished, false);
});
