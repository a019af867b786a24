import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { call, say } from "../../../tests/doubles/fake_model/script.ts";
import { type HistoryItem } from "../../protocol/model.ts";
import { each, finished, KEY, MODELS, plain, withFake } from "../../../tests/doubles/pi_harness.ts";

each("pi stream returns text, deltas and usage of a plain answer", async (model, { fake, ask, deltas }) => {
  fake.script([[say("Good ", "mor", "ning")]]);

  const result = finished(await ask(model));

  deepEqual(plain(result.items), [{ type: "assistant", text: "Good morning" }]);
  equal(deltas.map((delta) => delta.delta).join(""), "Good morning");
  ok(deltas.every((delta) => delta.kind === "text"));
  equal(result.stopReason, "stop");
  deepEqual([result.turnId, result.step, result.attempt, result.model], ["turn", 3, 1, model]);
  const { inputTokens, outputTokens, cacheReadTokens } = result.usage;
  deepEqual([inputTokens, outputTokens, cacheReadTokens], [100, 42, 20]);
});

each("pi stream sends system prompt, tools, history and key", async (model, { fake, ask }) => {
  const items: HistoryItem[] = [
    { type: "user", text: "run ls" },
    { type: "assistant", text: "I run it." },
    { type: "tool_call", callId: "c1", name: "exec_command", arguments: '{"command":"ls"}' },
    { type: "tool_result", callId: "c1", name: "exec_command", ok: true, text: "a.txt" },
    { type: "user", text: "and now?" },
  ];

  finished(await ask(model, { items }));

  const seen = await fake.nextRequest();
  equal(seen.system, "Be brief.");
  deepEqual(seen.tools, ["exec_command"]);
  deepEqual(seen.messages.filter((message) => message.role === "user").map((message) => message.text), [
    "run ls",
    "and now?",
  ]);
  deepEqual(seen.messages.flatMap((message) => message.calls ?? []), [
    { id: "c1", name: "exec_command", arguments: '{"command":"ls"}' },
  ]);
  const answer = seen.messages.find((message) => message.role === "tool");
  deepEqual([answer?.callId, answer?.text], ["c1", "a.txt"]);
  match(`${seen.headers["x-api-key"]} ${seen.headers.authorization}`, new RegExp(KEY));
});

each(
  "pi stream keeps the argument text of parallel calls as it was written",
  async (model, { fake, ask, deltas }) => {
    const first = '{"command": "echo \\ud83d\\ude00",  "n": 1.0}';
    fake.script([[
      say("Two things."),
      {
        do: "call",
        name: "exec_command",
        id: "call_a",
        fragments: [first.slice(0, 22), first.slice(22, 25), first.slice(25)],
      },
      call("exec_command", { command: "pwd" }, "call_b"),
    ]]);

    const result = finished(await ask(model));

    deepEqual(plain(result.items), [
      { type: "assistant", text: "Two things." },
      { type: "tool_call", callId: "call_a", name: "exec_command", arguments: first },
      { type: "tool_call", callId: "call_b", name: "exec_command", arguments: '{"command":"pwd"}' },
    ]);
    equal(result.stopReason, "tool_use");
    const preview = deltas.filter((delta) => delta.callId === "call_a").map((delta) => delta.delta).join("");
    equal(preview, first);
  },
);

each("E1: pi stream survives an answer that comes byte by byte", async (model, { fake, ask }) => {
  fake.script([[say("Grüße, 世界 😀"), call("exec_command", { command: "echo 😀" }, "c")]]);
  const transform = () =>
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        for (let at = 0; at < chunk.length; at++) controller.enqueue(chunk.slice(at, at + 1));
      },
    });

  const result = finished(await ask(model, { transform }));

  deepEqual(plain(result.items), [
    { type: "assistant", text: "Grüße, 世界 😀" },
    { type: "tool_call", callId: "c", name: "exec_command", arguments: '{"command":"echo 😀"}' },
  ]);
});

for (const broken of ['{"command":"ls', '{"a":1}{"a":1}', '{"a":1,}', "[1]"]) {
  each(`E3: pi stream hands on the invalid arguments ${broken}`, async (model, { fake, ask }) => {
    fake.script([[call("exec_command", broken, "c")]]);

    const result = finished(await ask(model));

    const [item] = result.items;
    equal(item?.type === "tool_call" && item.arguments, broken);
  });
}

each("E4: pi stream takes a call without argument text as {}", async (model, { fake, ask }) => {
  fake.script([[{ do: "call", name: "exec_command", id: "c", fragments: [] }]]);

  const result = finished(await ask(model));

  const [item] = result.items;
  equal(item?.type === "tool_call" && item.arguments, "{}");
});

each("E7, E8: pi stream makes call ids unique and acceptable everywhere", async (model, { fake, ask }) => {
  const long = `call+${"x".repeat(400)}`;
  fake.script([[
    call("exec_command", {}, "call_0"),
    call("exec_command", {}, "call_0"),
    call("exec_command", {}, long),
  ]]);
  const items: HistoryItem[] = [
    { type: "user", text: "again" },
    { type: "tool_call", callId: "call_0", name: "exec_command", arguments: "{}" },
    { type: "tool_result", callId: "call_0", name: "exec_command", ok: true, text: "x" },
  ];

  const result = finished(await ask(model, { items }));

  const ids = result.items.flatMap((item) => item.type === "tool_call" ? [item.callId] : []);
  equal(new Set(["call_0", ...ids]).size, 4);
  for (const id of ids) match(id, /^[A-Za-z0-9_-]{1,40}$/);
});

Deno.test("E5: pi stream tells calls apart that all come with index 0", () =>
  withFake(async ({ fake, ask }) => {
    const chunk = (call: object) =>
      `data: ${
        JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] })
      }\n\n`;
    fake.script([[
      { do: "raw", text: chunk({ id: "a", function: { name: "exec_command", arguments: '{"command"' } }) },
      { do: "raw", text: chunk({ function: { arguments: ':"ls"}' } }) },
      { do: "raw", text: chunk({ id: "b", function: { name: "exec_command", arguments: "{}" } }) },
      { do: "finish", reason: "tool_use" },
    ]]);

    const result = finished(await ask("openai-compatible/local-test"));

    deepEqual(plain(result.items), [
      { type: "tool_call", callId: "a", name: "exec_command", arguments: '{"command":"ls"}' },
      { type: "tool_call", callId: "b", name: "exec_command", arguments: "{}" },
    ]);
  }));

each("E9: pi stream believes the content, not the stop reason", async (model, { fake, ask }) => {
  fake.script([
    [call("exec_command", {}, "c"), { do: "finish", reason: "stop" }],
    [say("no call"), { do: "finish", reason: "tool_use" }],
  ]);

  equal(finished(await ask(model)).stopReason, "tool_use");
  equal(finished(await ask(model)).stopReason, "stop");
});

each("E10: pi stream returns an empty answer as no items", async (model, { fake, ask }) => {
  fake.script([[say("  \n")]]);

  const result = finished(await ask(model));

  deepEqual(result.items, []);
});

each(
  "E11: pi stream keeps text that hit the output limit, and drops the call that was cut",
  async (model, { fake, ask }) => {
    fake.script([[say("Half a"), call("exec_command", '{"comm', "c"), { do: "finish", reason: "length" }]]);

    const result = finished(await ask(model));

    deepEqual(plain(result.items), [{ type: "assistant", text: "Half a" }]);
    equal(result.stopReason, "length");
  },
);

each(
  "E13: pi stream reports a refusal as a refusal, with the text before it",
  async (model, { fake, ask }) => {
    fake.script([[say("I cannot"), { do: "finish", reason: "refusal" }]]);

    const result = finished(await ask(model));

    equal(result.stopReason, "refusal");
    deepEqual(plain(result.items), [{ type: "assistant", text: "I cannot" }]);
  },
);

each(
  "E14: reasoning goes back to the model that signed it, and to no other",
  async (model, { fake, ask }) => {
    fake.script([[{ do: "reasoning", chunks: ["Let me ", "think"], signature: "sealed" }, say("Done.")]]);
    const result = finished(await ask(model, { request: { reasoningEffort: "low" } }));
    await fake.nextRequest();
    const items: HistoryItem[] = [{ type: "user", text: "q" }, ...result.items, {
      type: "user",
      text: "more",
    }];
    deepEqual(plain(result.items), [
      { type: "reasoning", text: "Let me think" },
      { type: "assistant", text: "Done." },
    ]);

    await ask(model, { items, request: { reasoningEffort: "low" } });
    const same = await fake.nextRequest();
    for (const other of MODELS) if (other !== model) await ask(other, { items });
    const others = [await fake.nextRequest(), await fake.nextRequest()];

    match(JSON.stringify(same.body), /sealed|Let me think/);
    for (const seen of others) {
      doesNotMatch(JSON.stringify(seen.body), /sealed|Let me think/);
      match(JSON.stringify(seen.body), /Done\./);
    }
  },
);

each("E16: pi stream never sends reasoning without what followed it", async (model, { fake, ask }) => {
  fake.script([[{ do: "reasoning", chunks: ["Hm"], signature: "sealed" }, say("Done.")]]);
  const [reasoning] = finished(await ask(model, { request: { reasoningEffort: "low" } })).items;
  await fake.nextRequest();
  ok(reasoning?.type === "reasoning");

  await ask(model, { items: [{ type: "user", text: "q" }, reasoning, { type: "user", text: "again" }] });

  doesNotMatch(JSON.stringify((await fake.nextRequest()).body), /sealed|Hm/);
});

Deno.test("E13: pi stream shows the refusal that chat completions tell apart from the text", () =>
  withFake(async ({ fake, ask }) => {
    const refusal = { choices: [{ index: 0, delta: { refusal: "I will not." } }] };
    fake.script([[{ do: "raw", text: `data: ${JSON.stringify(refusal)}\n\n` }]]);

    const result = finished(await ask("openai-compatible/local-test"));

    equal(result.stopReason, "refusal");
    deepEqual(plain(result.items), [{ type: "assistant", text: "I will not." }]);
  }));

Deno.test("E24: pi stream takes a call that is done without having been added", () =>
  withFake(async ({ fake, ask }) => {
    const item = {
      type: "function_call",
      id: "fc_9",
      call_id: "c9",
      name: "exec_command",
      arguments: '{"a":',
    };
    const done = { type: "response.output_item.done", output_index: 0, item };
    fake.script([[{ do: "raw", text: `data: ${JSON.stringify(done)}\n\n` }]]);

    const result = finished(await ask("openai/gpt-test"));

    deepEqual(plain(result.items), [
      { type: "tool_call", callId: "c9", name: "exec_command", arguments: '{"a":' },
    ]);
  }));

each("E25: pi stream passes over events that it does not know", async (model, { fake, ask }) => {
  const unknown = 'event: brand_new\ndata: {"type":"brand_new","of":{"next":"year"}}\n\n';
  fake.script([[{ do: "raw", text: unknown }, say("Hi."), { do: "raw", text: `: comment\n\n${unknown}` }]]);

  deepEqual(plain(finished(await ask(model)).items), [{ type: "assistant", text: "Hi." }]);
});
