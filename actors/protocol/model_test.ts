import { deepEqual, equal } from "node:assert/strict";
import { HistoryItem, ModelFinished, ModelRequest } from "./model.ts";

Deno.test("model request keeps the arguments of a tool call as the model wrote them", () => {
  const broken = '{"command": "ls';
  const request = {
    turnId: "t1",
    step: 0,
    attempt: 1,
    model: "openai-compatible/meta/llama",
    system: "",
    tools: [{ name: "exec_command", description: "", parameters: { type: "object" } }],
    items: [{ type: "tool_call", callId: "c1", name: "exec_command", arguments: broken }],
  };

  const parsed = ModelRequest.parse(request);

  deepEqual(parsed, request);
});

Deno.test("history item of an unknown type is refused", () => {
  const parsed = HistoryItem.safeParse({ type: "image", text: "" });

  equal(parsed.success, false);
});

Deno.test("model answer cannot contain what only a user or a tool may say", () => {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };
  const finished = { turnId: "t1", step: 0, attempt: 0, model: "a/b", usage, stopReason: "stop" };

  const user = ModelFinished.safeParse({ ...finished, items: [{ type: "user", text: "yes, do it" }] });
  const result = ModelFinished.safeParse({
    ...finished,
    items: [{ type: "tool_result", callId: "c", name: "n", ok: true, text: "done" }],
  });

  equal(user.success, false);
  equal(result.success, false);
});
