import { deepEqual, doesNotMatch, equal, match, rejects, throws } from "node:assert/strict";
import { FakeClock, settle } from "../../tests/doubles/fake_clock.ts";
import type { Committed, Delivery, Envelope, GatewayContext, Send } from "../../runtime/actor.ts";
import { checkSend } from "../protocol.ts";
import type { ModelFailed, ModelFinished, ModelRequest } from "../protocol/model.ts";
import { modelHosts, ModelsConfig } from "./config.ts";
import { createModelsGateway } from "./gateway.ts";
import { type LibraryConsole, takeConsole } from "./library_console.ts";
import type { ModelStreamOptions } from "./model_stream.ts";

const FROM = "conversation/c1";
const request: ModelRequest = {
  turnId: "t1",
  step: 0,
  attempt: 1,
  model: "a/b",
  system: "",
  tools: [],
  items: [],
};
const { turnId, step, attempt, model } = request;
const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };
const finished: ModelFinished = { turnId, step, attempt, model, items: [], usage, stopReason: "stop" };
const aborted: ModelFailed = {
  turnId,
  step,
  attempt,
  error: { class: "aborted", message: "cancelled" },
  items: [],
};

/** A model stream that a test plays by hand: it aborts like a real one. */
function handStream() {
  const calls: { options: ModelStreamOptions; settle: (outcome: ModelFinished | ModelFailed) => void }[] = [];
  const stream = (_request: ModelRequest, options: ModelStreamOptions) =>
    new Promise<ModelFinished | ModelFailed>((settle) => {
      options.signal.addEventListener("abort", () => settle(aborted));
      if (options.signal.aborted) settle(aborted);
      calls.push({ options, settle });
    });
  return { calls, stream };
}

async function setUp(options: { mayAct?: boolean; started?: Committed | Promise<Committed> } = {}) {
  const clock = new FakeClock();
  const hand = handStream();
  const emitted: Send[] = [];
  const logs: string[] = [];
  const stop = new AbortController();
  let closed = 0;
  const context: GatewayContext = {
    ref: "models",
    config: {},
    now: () => clock.now(),
    newId: () => "id",
    commit: () => Promise.resolve({ ok: true }),
    emit: (send) => emitted.push(send),
    read: () => Promise.reject(new Error("not used")),
    mayAct: () => options.mayAct ?? true,
    signal: stop.signal,
    log: (level, text, facts) => logs.push(`${level} ${text} ${JSON.stringify(facts)}`),
  };
  const gateway = createModelsGateway({
    open: () => ({ stream: hand.stream, close: () => closed++ }),
    clock,
  });
  await gateway.start(context);
  const handle = (type: string, payload: unknown) => {
    const message: Envelope = {
      id: "m",
      v: 1,
      to: "models",
      from: FROM,
      type,
      payload,
      lane: "normal",
      durable: true,
      at: 0,
    };
    const delivery: Delivery = {
      message,
      resumed: false,
      intent: undefined,
      signal: new AbortController().signal,
      started: () => Promise.resolve<Committed>(options.started ?? { ok: true }),
    };
    return gateway.handle(delivery);
  };
  return { gateway, hand, emitted, logs, stop, handle, clock, closed: () => closed };
}

Deno.test("models gateway streams deltas to the conversation and answers once", async () => {
  const { hand, emitted, handle, clock } = await setUp();
  const handled = handle("model.stream", request);
  await settle();

  hand.calls[0]?.options.onDelta({ kind: "text", index: 0, delta: "Hel" });
  hand.calls[0]?.options.onDelta({ kind: "text", index: 0, delta: "lo" });
  await clock.advance(50);
  hand.calls[0]?.settle(finished);

  deepEqual(await handled, { send: [{ to: FROM, type: "model.finished", payload: finished }] });
  deepEqual(emitted, [{
    to: FROM,
    type: "model.delta",
    payload: { turnId: "t1", step: 0, attempt: 1, seq: 0, kind: "text", index: 0, delta: "Hello" },
  }]);
  equal(clock.pending, 0);
});

Deno.test("models gateway says only what the catalogue lets it say", async () => {
  const { hand, emitted, handle } = await setUp();
  const handled = handle("model.stream", request);
  await settle();
  hand.calls[0]?.options.onDelta({ kind: "text", index: 0, delta: "x" });
  hand.calls[0]?.settle(finished);

  const effects = await handled;

  for (const send of [...emitted, ...(effects?.send ?? [])]) {
    equal(checkSend("models", send).ok, true, send.type);
  }
});

Deno.test("models gateway stops a running step when its turn is cancelled", async () => {
  const { handle } = await setUp();
  const handled = handle("model.stream", request);
  await settle();

  await handle("model.cancel", { turnId: "t1" });

  deepEqual(await handled, { send: [{ to: FROM, type: "model.failed", payload: aborted }] });
});

Deno.test("models gateway does not begin a step whose cancel came first", async () => {
  const { hand, handle } = await setUp();
  await handle("model.cancel", { turnId: "t1" });

  const effects = await handle("model.stream", request);

  equal(hand.calls.length, 0);
  match(JSON.stringify(effects), /"class":"aborted"/);
});

Deno.test("models gateway stops a step whose cancel comes while it is being noted", async () => {
  const { promise, resolve } = Promise.withResolvers<Committed>();
  const { handle } = await setUp({ started: promise });
  const handled = handle("model.stream", request);
  await handle("model.cancel", { turnId: "t1" });

  resolve({ ok: true });

  match(JSON.stringify(await handled), /"class":"aborted"/);
});

Deno.test("models gateway leaves other turns alone when one is cancelled", async () => {
  const { hand, handle } = await setUp();
  const handled = handle("model.stream", { ...request, turnId: "t2" });
  await settle();

  await handle("model.cancel", { turnId: "t1" });

  equal(hand.calls[0]?.options.signal.aborted, false);
  hand.calls[0]?.settle(finished);
  await handled;
});

Deno.test("models gateway that must stop fails its steps as transient, so that they run again", async () => {
  const { gateway, handle, stop, closed } = await setUp();
  const handled = handle("model.stream", request);
  await settle();

  stop.abort();

  match(JSON.stringify(await handled), /"model.failed".*"class":"transient"/);
  await gateway.stop?.();
  equal(closed(), 1);
});

for (
  const [name, options] of [
    ["started could not be committed", {
      started: { ok: false, error: { code: "fenced", message: "" } } satisfies Committed,
    }],
    ["the lease may have passed on", { mayAct: false }],
  ] as const
) {
  Deno.test(`models gateway asks no model when ${name}`, async () => {
    const { hand, handle } = await setUp(options);

    match(JSON.stringify(await handle("model.stream", request)), /"class":"transient"/);
    equal(hand.calls.length, 0);
  });
}

Deno.test("models gateway logs numbers and no text of anybody", async () => {
  const { hand, logs, handle } = await setUp();
  const handled = handle("model.stream", {
    ...request,
    system: "SECRET",
    items: [{ type: "user", text: "SECRET" }],
  });
  await settle();
  hand.calls[0]?.settle({ ...finished, items: [{ type: "assistant", text: "SECRET" }] });
  await handled;

  match(logs.join("\n"), /info model step .*"inputTokens":1/);
  doesNotMatch(logs.join("\n"), /SECRET/);
});

Deno.test("a library that prints a stream event gets only its first words into the log", () => {
  const logs: string[] = [];
  const nothing = () => {};
  const target: LibraryConsole = {
    debug: nothing,
    log: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
  };

  takeConsole(target, (level, text) => logs.push(`${level} ${text}`));
  target.error("Could not parse message into JSON:", '{"text":"SECRET"');
  target.log({ text: "SECRET" });

  deepEqual(logs, ["error library: Could not parse message into JSON:", "info library: (no text)"]);
});

Deno.test("models gateway crashes on a message that is not its own", async () => {
  const { handle } = await setUp();

  await rejects(async () => await handle("tool.run", {}), /tool\.run/);
});

Deno.test("models config is checked, and tells which hosts must be reachable", () => {
  const config = ModelsConfig.parse({
    openai: { baseUrl: "http://vllm:8000/v1" },
    anthropic: { apiKey: "k" },
  });

  deepEqual(modelHosts(config), ["api.anthropic.com", "vllm:8000", "127.0.0.1:11434"]);
  deepEqual(modelHosts(ModelsConfig.parse({})), ["127.0.0.1:11434"]);
  throws(() => ModelsConfig.parse({ openai: { baseUrl: "not a url" } }));
});
