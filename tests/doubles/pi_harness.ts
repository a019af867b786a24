/**
 * What the tests of the pi stream share: a fake model server, a clock, and one function that asks over a real socket.
 * Every failure that passes through `failure()` is searched for the key.
 */

import { doesNotMatch, equal } from "node:assert/strict";
import { FakeClock } from "./fake_clock.ts";
import { FakeModel } from "./fake_model/fake_model.ts";
import { type HistoryItem, ModelFailed, ModelFinished, ModelRequest } from "../../actors/protocol/model.ts";
import { isModelFailed, type StreamDelta } from "../../actors/models/model_stream.ts";
import { openSingleShotFetch } from "../../actors/models/single_shot_fetch.ts";
import { createPiStream } from "../../actors/models/pi/pi_stream.ts";

export const KEY = "test-key-that-must-not-leak-0123456789";

/** The three protocols, by a model of each. */
export const MODELS = ["anthropic/claude-test", "openai/gpt-test", "openai-compatible/local-test"] as const;
export type TestModel = typeof MODELS[number];

export interface Harness {
  readonly fake: FakeModel;
  readonly clock: FakeClock;
  /** The URLs of all requests that went out. */
  readonly sent: string[];
  ask(model: string, options?: AskOptions): Promise<ModelFinished | ModelFailed>;
  readonly deltas: StreamDelta[];
}
export interface AskOptions {
  readonly items?: readonly HistoryItem[];
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: StreamDelta) => void;
  readonly request?: Partial<ModelRequest>;
  /** Re-cuts the body of the answer. */
  readonly transform?: () => TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
}

export async function withFake(run: (harness: Harness) => Promise<void>): Promise<void> {
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

export function finished(outcome: ModelFinished | ModelFailed): ModelFinished {
  if (isModelFailed(outcome)) throw new Error(`failed: ${JSON.stringify(outcome.error)}`);
  return ModelFinished.parse(outcome);
}

export function failure(outcome: ModelFinished | ModelFailed): ModelFailed {
  if (!isModelFailed(outcome)) throw new Error(`finished: ${JSON.stringify(outcome.items)}`);
  doesNotMatch(JSON.stringify(outcome), new RegExp(KEY));
  return ModelFailed.parse(outcome);
}

/** Items without their opaque signatures. */
export function plain(items: readonly HistoryItem[]) {
  return items.map((item) => {
    const { signature: _signature, ...rest } = { signature: undefined, ...item };
    return rest;
  });
}

export function each(
  name: string,
  run: (model: TestModel, harness: Harness) => Promise<void>,
  models = MODELS,
): void {
  for (const model of models) {
    Deno.test(`${name} (${model})`, () => withFake((harness) => run(model, harness)));
  }
}
