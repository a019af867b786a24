import { deepEqual, doesNotMatch, equal, match, ok, rejects } from "node:assert/strict";
import { FakeClock } from "../../../tests/doubles/fake_clock.ts";
import { FakeModel } from "../../../tests/doubles/fake_model/fake_model.ts";
import { call, refuse, type Reply, say } from "../../../tests/doubles/fake_model/script.ts";
import { type HistoryItem, ModelFailed, ModelFinished, ModelRequest } from "../../protocol/model.ts";
import { isModelFailed, type StreamDelta } from "../model_stream.ts";
import { observeFetch } from "./observed_fetch.ts";
import { createPiStream } from "./pi_stream.ts";
import { openSingleShotFetch } from "../single_shot_fetch.ts";

const KEY = "test-key-that-must-not-leak-0123456789";

/** The three protocols, by a model of each. */
const MODELS = ["anthropic/claude-test", "openai/gpt-test", "openai-compatible/local-test"] as const;
type TestModel = typeof MODELS[number];

interface Harness {
  readonly fake: FakeModel;
  readonly clock: FakeClock;
  /** The URLs of all requests that went out. */
  readonly sent: string[];
  ask(model: string, options?: AskOptions): Promise<ModelFinished | ModelFailed>;
  readonly deltas: StreamDelta[];
}
interface AskOptions {
  readonly items?: readonly HistoryItem[];
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: StreamDelta) => void;
  readonly request?: Partial<ModelRequest>;
  /** Re-cuts the body of the answer. */
  readonly transform?: () => TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
}

async function withFake(run: (harness: Harness) => Promise<void>): Promise<void> {
  const fake = FakeModel.start();
  const clock = new FakeClock();
  const http = openSingleShotFetch();
  const deltas: StreamDelta[] = [];
  const sent: string[] = [];
  const ask: Harness["ask"] = async (model, options = {}) => {
    const stream = createPiStream({
      endpoints: {
        anthropic: { apiKey: KEY, baseUrl: fake.url },
        openai: {
          apiKey: KEY,
          baseUrl: fake.openaiUrl,
          api: model.startsWith("openai/") ? "responses" : "completions",
        },
      },
      async fetch(input, init) {
        sent.push(String(input));
        const response = await http.fetch(input, init);
        if (options.transform === undefined || response.body === null) return response;
        return new Response(response.body.pipeThrough(options.transform()), response);
      },
      clock,
    });
    const request = ModelRequest.parse({
      turnId: "turn",
      step: 3,
      attempt: 1,
      model,
      system: "Be brief.",
      tools: [{ name: "exec_command", description: "Runs.", parameters: { type: "object", properties: {} } }],
      items: options.items ?? [{ type: "user", text: "hello" }],
      ...options.request,
    });
    return await stream(request, {
      signal: options.signal ?? new AbortController().signal,
      onDelta(delta) {
        deltas.push(delta);
        options.onDelta?.(delta);
      },
    });
  };
  try {
    await run({ fake, clock, sent, ask, deltas });
    equal(clock.pending, 0, "a timer was left behind");
  } finally {
    await fake.close();
    http.close();
  }
}

function finished(outcome: ModelFinished | ModelFailed): ModelFinished {
  if (isModelFailed(outcome)) throw new Error(`failed: ${JSON.stringify(outcome.error)}`);
  return ModelFinished.parse(outcome);
}

function failure(outcome: ModelFinished | ModelFailed): ModelFailed {
  if (!isModelFailed(outcome)) throw new Error(`finished: ${JSON.stringify(outcome.items)}`);
  doesNotMatch(JSON.stringify(outcome), new RegExp(KEY));
  return ModelFailed.parse(outcome);
}

/** Items without their opaque signatures. */
function plain(items: readonly HistoryItem[]) {
  return items.map((item) => {
    const { signature: _signature, ...rest } = { signature: undefined, ...item };
    return rest;
  });
}

function each(
  name: string,
  run: (model: TestModel, harness: Harness) => Promise<void>,
  models = MODELS,
): void {
  for (const model of models) {
    Deno.test(`${name} (${model})`, () => withFake((harness) => run(model, harness)));
  }
}

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

each("E17: pi stream classifies an error that comes after the 200", async (model, { fake, ask }) => {
  fake.script([
    [say("Half"), { do: "error", type: "overloaded_error", message: `Overloaded for ${KEY}` }],
    [{ do: "error", type: "context_length_exceeded", message: "too long" }],
  ]);

  equal(failure(await ask(model)).error.class, "transient");
  equal(failure(await ask(model)).error.class, "context_too_long");
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

Deno.test("observed fetch refuses a second request", async () => {
  let sent = 0;
  const observed = observeFetch(() => Promise.resolve(new Response(`answer ${++sent}`)));

  equal(await (await observed.fetch("http://a")).text(), "answer 1");

  await rejects(observed.fetch("http://a"), /second one/);
  equal(sent, 1);
});

each("E25: pi stream passes over events that it does not know", async (model, { fake, ask }) => {
  const unknown = 'event: brand_new\ndata: {"type":"brand_new","of":{"next":"year"}}\n\n';
  fake.script([[{ do: "raw", text: unknown }, say("Hi."), { do: "raw", text: `: comment\n\n${unknown}` }]]);

  deepEqual(plain(finished(await ask(model)).items), [{ type: "assistant", text: "Hi." }]);
});

const REFUSALS: readonly (readonly [string, Reply, string, number?])[] = [
  ["429 with retry-after", [refuse(429, { retryAfter: "7" })], "rate_limit", 7_000],
  ["429 with hours to wait", [refuse(429, { retryAfter: "7200" })], "usage_limit", 7_200_000],
  ["529", [refuse(529)], "transient"],
  ["500", [refuse(500)], "transient"],
  ["401 that repeats the key", [refuse(401, { body: `{"error":{"message":"bad key ${KEY}"}}` })], "auth"],
  ["502 as an HTML page", [refuse(502, { body: `<html><h1>Bad Gateway</h1>${KEY}</html>` })], "transient"],
  ["404", [refuse(404, { body: '{"error":{"message":"no such model"}}' })], "bad_request"],
  ["an overflow", [{ do: "overflow" }], "context_too_long"],
  ["a cut connection", [say("Half"), { do: "cut" }], "transient"],
  ["an end without a finish", [say("Half"), { do: "close" }], "transient"],
  ["malformed JSON", [{ do: "raw", text: "event: content_block_delta\ndata: {nonsense\n\n" }], "transient"],
];

for (const [name, reply, kind, retryAfterMs] of REFUSALS) {
  each(`pi stream turns ${name} into ${kind}, after one request`, async (model, { fake, ask, sent }) => {
    fake.script([reply]);

    const { error } = failure(await ask(model));

    equal(error.class, kind, error.message);
    equal(error.retryAfterMs, retryAfterMs);
    equal(sent.length, 1);
    equal(fake.requests.length, 1);
    ok(error.message.length > 0);
  });
}

each("pi stream keeps only items that were whole when the stream broke", async (model, { fake, ask }) => {
  fake.script([[say("Whole."), call("exec_command", {}, "c"), { do: "cut" }]]);

  const { items } = failure(await ask(model));

  // Chat completions do not mark the end of an item, so there nothing is known to be whole.
  const expected = model.startsWith("openai-compatible/") ? [] : ["assistant", "tool_call"];
  deepEqual(items.map((item) => item.type), expected);
});

each(
  "E22: pi stream finishes when the provider leaves the connection open",
  async (model, { fake, clock, ask }) => {
    fake.script([[say("Done."), { do: "stay_open", reason: "stop" }]]);
    const asked = ask(model);
    await fake.nextRequest();
    let settled = false;
    void asked.then(() => settled = true);
    // The grace timer replaces nothing: it is the second timer, beside the idle limit.
    while (clock.pending < 2 && !settled) await new Promise((resolve) => setImmediate(resolve));

    await clock.advance(2_000);

    deepEqual(plain(finished(await asked).items), [{ type: "assistant", text: "Done." }]);
  },
);

each(
  "pi stream fails as transient after 300 s without progress, and hangs up",
  async (model, { fake, clock, ask }) => {
    fake.script([[say("Hm"), { do: "hang" }]]);
    const { promise: wrote, resolve } = Promise.withResolvers<void>();
    const asked = ask(model, { onDelta: () => resolve() });
    await wrote;
    const seen = await fake.nextRequest();

    await clock.advance(299_999);
    await clock.advance(1);

    const { error } = failure(await asked);
    equal(error.class, "transient");
    match(error.message, /300 s/);
    equal(await seen.ended, "gone");
  },
);

each(
  "pi stream settles as aborted when it is cancelled, and hangs up",
  async (model, { fake, ask, deltas }) => {
    fake.script([[say("Hm"), { do: "hang" }, say("late")]]);
    const abort = new AbortController();
    const { promise: wrote, resolve } = Promise.withResolvers<void>();
    const asked = ask(model, { signal: abort.signal, onDelta: () => resolve() });
    await wrote;
    const seen = await fake.nextRequest();

    abort.abort();

    equal(failure(await asked).error.class, "aborted");
    equal(await seen.ended, "gone");
    equal(deltas.map((delta) => delta.delta).join(""), "Hm");
  },
);

each("pi stream counts the idle time from the last progress", async (model, { fake, clock, ask }) => {
  fake.script([[say("one"), { do: "hang" }, say("two"), { do: "hang" }]]);
  const wrote = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const asked = ask(model, { onDelta: () => wrote[count++]?.resolve() });
  await wrote[0]?.promise;
  await fake.whenHanging();
  await clock.advance(200_000);
  fake.release();
  await wrote[1]?.promise;

  const limitAt = clock.nextAt;
  await clock.advance(300_000);

  equal(limitAt, clock.now());
  equal(failure(await asked).error.class, "transient");
});

Deno.test("pi stream stops at an item or a line that has no end", () =>
  withFake(async ({ fake, ask }) => {
    fake.script([
      [{ do: "call", name: "t", fragments: ["x".repeat(700_000), "x".repeat(700_000)] }],
      [{ do: "raw", text: `data: ${"x".repeat(11 * 1024 * 1024)}` }, { do: "hang" }],
    ]);

    const item = failure(await ask("openai/gpt-test"));
    const line = failure(await ask("openai/gpt-test"));

    deepEqual([item.error.class, item.items], ["fatal", []]);
    match(item.error.message, /more than 1048576 characters/);
    match(line.error.message, /10 MiB/);
  }));

Deno.test("pi stream sends nothing when it is cancelled before it starts", () =>
  withFake(async ({ fake, ask }) => {
    const outcome = await ask("anthropic/claude-test", { signal: AbortSignal.abort() });

    equal(failure(outcome).error.class, "aborted");
    equal(fake.requests.length, 0);
  }));

Deno.test("pi stream says what to configure for an unknown provider or a missing key", async () => {
  const stream = createPiStream({ endpoints: {}, fetch, clock: new FakeClock() });
  const ask = (model: string) =>
    stream({ turnId: "t", step: 0, attempt: 0, model, system: "", tools: [], items: [] }, {
      signal: new AbortController().signal,
      onDelta: () => {},
    });

  const unknown = failure(await ask("acme/gpt"));
  const keyless = failure(await ask("anthropic/claude-test"));

  equal(unknown.error.class, "bad_request");
  match(unknown.error.message, /acme\/gpt.*ollama/);
  equal(keyless.error.class, "auth");
  match(keyless.error.message, /ANTHROPIC_API_KEY/);
});

/** Answers the first request and keeps the connection; reads every later one and drops it. Counts them. */
function droppingServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    requests: 0,
    close: () => listener.close(),
    done,
  };
  const answer = new TextEncoder().encode(
    "HTTP/1.1 401 No\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nno",
  );
  async function serve(connection: Deno.Conn): Promise<void> {
    using _connection = connection;
    const buffer = new Uint8Array(65_536);
    while (await connection.read(buffer).catch(() => null) !== null) {
      if (++server.requests > 1) return;
      await connection.write(answer);
    }
  }
  const serving: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) serving.push(serve(connection));
  })();
  async function done(): Promise<void> {
    await accepting;
    await Promise.all(serving);
  }
  return server;
}

Deno.test("pi stream is not sent again by fetch when a kept-alive connection drops", async () => {
  const server = droppingServer();
  const http = openSingleShotFetch();
  const stream = createPiStream({
    endpoints: { anthropic: { apiKey: KEY, baseUrl: server.url } },
    fetch: http.fetch,
    clock: new FakeClock(),
  });
  const ask = () =>
    stream({
      turnId: "t",
      step: 0,
      attempt: 0,
      model: "anthropic/m",
      system: "",
      tools: [],
      items: [{ type: "user", text: "x" }],
    }, { signal: new AbortController().signal, onDelta: () => {} });

  const outcomes = [failure(await ask()), failure(await ask())];

  http.close();
  server.close();
  await server.done();
  deepEqual(outcomes.map((outcome) => outcome.error.class), ["auth", "transient"]);
  equal(server.requests, 2);
});
