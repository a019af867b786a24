/**
 * The `ModelStream` of real providers: Anthropic Messages, OpenAI Responses, chat completions.
 *
 * The only file that runs pi-ai's code (`model_catalog.ts` reads its lists). Promises: one HTTP request a step, never repeated here or below; a stream
 * without progress for `idleLimitMs` fails as transient; one that has finished but stays open is closed after
 * `finishGraceMs`; no secret in any message. Environment variables are not read for anything that matters; run it with
 * `--ignore-env`, because the libraries below look at some. Proved by `pi_stream_test.ts` and `pi_faults_test.ts`.
 */

import { type AssistantMessage, type AssistantMessageEvent, normalizeContext } from "@earendil-works/pi-ai";
import { streamSimple as streamAnthropic } from "@earendil-works/pi-ai/api/anthropic-messages";
import { stream as streamCompletions } from "@earendil-works/pi-ai/api/openai-completions";
import { streamSimple as streamResponses } from "@earendil-works/pi-ai/api/openai-responses";
import type { Clock } from "../../../lib/clock.ts";
import type {
  ModelError,
  ModelFailed,
  ModelFinished,
  ModelRequest,
  ModelUsage,
  StopReason,
} from "../../protocol/model.ts";
import { classifyError } from "../classify_error.ts";
import { ItemCollector } from "./item_collector.ts";
import { createToolDeltaMender } from "./mend_tool_deltas.ts";
import type { ModelStream, ModelStreamOptions } from "../model_stream.ts";
import { type ObservedFetch, observeFetch } from "./observed_fetch.ts";
import { targetName, toPiMessages } from "./pi_messages.ts";
import { CATALOG } from "./model_catalog.ts";
import { type ModelEndpoints, type ResolvedModel, resolveModel } from "./pi_model.ts";
import { readProviderEvent } from "./provider_event.ts";

export interface PiStreamOptions {
  readonly endpoints: ModelEndpoints;
  /** Must not repeat a POST by itself: see `openSingleShotFetch`. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Pick<Clock, "now" | "after">;
  /** A stream without progress for this long has failed. @default {300_000} */
  readonly idleLimitMs?: number;
  /** How long a finished stream may stay open, for late usage. @default {2_000} */
  readonly finishGraceMs?: number;
}

/** How providers say that the model, or their filter, refused. */
const REFUSAL_STOPS = new Set(["refusal", "sensitive", "content_filter", "incomplete.content_filter"]);

/** Makes the stream of the configured providers. */
export function createPiStream(options: PiStreamOptions): ModelStream {
  return async (request, streamOptions) => {
    const { endpoints } = options;
    const resolved = resolveModel(request.model, {
      endpoints,
      catalog: CATALOG,
      reasoningEffort: request.reasoningEffort,
    });
    if (!resolved.ok) return failed(request, resolved.error, []);
    if (streamOptions.signal.aborted) return failed(request, ABORTED, []);
    return await new PiStep(request, resolved.value, { ...options, ...streamOptions }).run();
  };
}

const ABORTED: ModelError = { class: "aborted", message: "The model step was cancelled." };

/** One request and its answer. */
class PiStep {
  readonly #request: ModelRequest;
  readonly #resolved: ResolvedModel;
  readonly #options: PiStreamOptions & ModelStreamOptions;
  readonly #abort = new AbortController();
  readonly #collector: ItemCollector;
  readonly #http: ObservedFetch;
  readonly #mendToolDeltas = createToolDeltaMender();
  /** Set when we ended the stream ourselves. */
  #verdict: ModelError | undefined;
  #refusal: string | undefined;
  #cancelIdle = () => {};
  #cancelGrace: (() => void) | undefined;

  constructor(request: ModelRequest, resolved: ResolvedModel, options: PiStreamOptions & ModelStreamOptions) {
    this.#request = request;
    this.#resolved = resolved;
    this.#options = options;
    this.#http = observeFetch(options.fetch);
    this.#collector = new ItemCollector({
      history: request.items,
      modelName: this.#modelName(),
      marksItemEnds: resolved.api !== "openai-completions",
    });
  }

  async run(): Promise<ModelFinished | ModelFailed> {
    const { signal } = this.#options;
    const cancel = () => this.#stop(ABORTED);
    signal.addEventListener("abort", cancel, { once: true });
    this.#watchIdle();
    try {
      return await this.#readEvents();
    } catch (thrown) {
      return this.#failure(String(thrown instanceof Error ? thrown.message : thrown), "fatal");
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#cancelIdle();
      this.#cancelGrace?.();
      await this.#http.release();
    }
  }

  async #readEvents(): Promise<ModelFinished | ModelFailed> {
    for await (const event of this.#open()) {
      const delta = this.#take(event);
      if (delta !== undefined && this.#verdict === undefined) this.#options.onDelta(delta);
      if (event.type === "done") return this.#finished(event.message);
      if (event.type === "error") return this.#broken(event.error);
    }
    return this.#failure("the stream ended without a result", "transient");
  }

  #take(event: AssistantMessageEvent) {
    try {
      return this.#collector.take(event);
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      this.#stop({ class: "fatal", message: `The step was stopped: ${thrown.message}.` });
      return undefined;
    }
  }

  #open(): AsyncIterable<AssistantMessageEvent> {
    const { api, model, apiKey } = this.#resolved;
    const { system, tools, items, reasoningEffort } = this.#request;
    const context = normalizeContext({
      systemPrompt: system,
      tools,
      messages: toPiMessages(items, { api, provider: model.provider, model: model.id }),
    });
    const shared = {
      apiKey,
      fetch: this.#http.fetch,
      signal: this.#abort.signal,
      maxRetries: 0,
      cacheRetention: "short" as const,
      disableContinuation: true,
      identity: { userAgent: { custom: "callboard" } },
      onProviderStreamEvent: (event: unknown) => this.#observe(event),
    };
    const effort = reasoningEffort === undefined ? {} : { reasoning: reasoningEffort };
    switch (api) {
      case "anthropic-messages":
        return streamAnthropic(model, context, { ...shared, ...effort });
      case "openai-responses":
        // Without an effort the library would switch reasoning off.
        return streamResponses(model, context, { ...shared, reasoning: reasoningEffort ?? "medium" });
      case "openai-completions":
        return streamCompletions(model, context, {
          ...shared,
          ...(reasoningEffort !== undefined && { reasoningEffort }),
        });
    }
  }

  #observe(event: unknown): void {
    if (this.#resolved.api === "openai-completions") this.#mendToolDeltas(event);
    const hint = readProviderEvent(event);
    if (hint.progress) this.#watchIdle();
    if (hint.refusal !== undefined) this.#refusal = (this.#refusal ?? "") + hint.refusal;
    if (hint.finalArguments !== undefined) {
      this.#collector.noteFinalArguments(hint.finalArguments.id, hint.finalArguments.text);
    }
    if (hint.finished) {
      this.#cancelGrace ??= this.#options.clock.after(
        this.#options.finishGraceMs ?? 2_000,
        () => this.#http.end(),
      );
    }
  }

  #watchIdle(): void {
    const { clock, idleLimitMs = 300_000 } = this.#options;
    this.#cancelIdle();
    this.#cancelIdle = clock.after(idleLimitMs, () => {
      const seconds = Math.round(idleLimitMs / 1_000);
      this.#stop({ class: "transient", message: `The model's provider sent nothing for ${seconds} s.` });
    });
  }

  #stop(verdict: ModelError): void {
    this.#verdict ??= verdict;
    this.#abort.abort(new DOMException(verdict.message, "AbortError"));
  }

  #finished(message: AssistantMessage): ModelFinished | ModelFailed {
    if (this.#verdict !== undefined) return this.#failure("", "fatal");
    const { turnId, step, attempt, model } = this.#request;
    const wasCut = message.stopReason === "length";
    const items = this.#collector.finish(wasCut);
    if (this.#refusal) items.push({ type: "assistant", text: this.#refusal });
    const served = message.responseModel;
    return {
      turnId,
      step,
      attempt,
      model,
      ...(served !== undefined && served !== this.#resolved.model.id && { servedModel: served }),
      items,
      usage: toUsage(message.usage),
      stopReason: this.#stopReason(message, items),
    };
  }

  /** The content is believed, not the reason that the provider gives. */
  #stopReason(
    { stopReason, rawStopReason = "" }: AssistantMessage,
    items: ModelFinished["items"],
  ): StopReason {
    if (this.#refusal !== undefined || REFUSAL_STOPS.has(rawStopReason)) return "refusal";
    if (items.some((item) => item.type === "tool_call")) return "tool_use";
    return stopReason === "length" ? "length" : "stop";
  }

  #broken(message: AssistantMessage): ModelFinished | ModelFailed {
    const refused = REFUSAL_STOPS.has(message.rawStopReason ?? "");
    if (refused && this.#verdict === undefined) return this.#finished(message);
    return this.#failure(message.errorMessage ?? "", "transient");
  }

  /** `otherwise`: the class of an error that has nothing to do with the connection. */
  #failure(thrown: string, otherwise: "transient" | "fatal"): ModelFailed {
    const items = this.#collector.completed();
    if (this.#verdict !== undefined) return failed(this.#request, this.#verdict, items);
    const secrets = [this.#resolved.apiKey];
    const observed = this.#http.observed();
    const text = observed?.errorText ?? this.#http.streamedError() ?? thrown;
    const error = classifyError({ ...observed, text }, { now: this.#options.clock.now(), secrets });
    const isOurs = otherwise === "fatal" || !this.#http.wasCalled();
    return failed(this.#request, isOurs ? { class: "fatal", message: error.message } : error, items);
  }

  #modelName(): string {
    return targetName({ provider: this.#resolved.model.provider, model: this.#resolved.model.id });
  }
}

function failed(
  { turnId, step, attempt }: ModelRequest,
  error: ModelError,
  items: ModelFailed["items"],
): ModelFailed {
  return { turnId, step, attempt, error, items };
}

function toUsage({ input, output, cacheRead, cacheWrite, cost }: AssistantMessage["usage"]): ModelUsage {
  const count = (tokens: number) => Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0;
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    cacheReadTokens: count(cacheRead),
    cacheWriteTokens: count(cacheWrite),
    costUsd: Number.isFinite(cost.total) ? Math.max(0, cost.total) : 0,
  };
}
