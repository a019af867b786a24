/**
 * The one interface through which a model is asked for a step, whatever the provider.
 *
 * Promises: a `ModelStream` never throws and never retries; a failure is a value with the items that were
 * complete before it. After it has settled, `onDelta` is not called any more. Aborting the signal settles it
 * as `aborted`. It does not know conversations, messages or the store.
 * Proved by `pi/pi_stream_test.ts` and `rehearsal_test.ts`, its two implementations.
 */

import type { ModelDelta, ModelFailed, ModelFinished, ModelRequest } from "../protocol/model.ts";

/** A piece of a growing item, before it is coalesced and numbered. */
export type StreamDelta = Pick<ModelDelta, "kind" | "index" | "delta" | "callId">;

export interface ModelStreamOptions {
  /** Cancels the step. */
  readonly signal: AbortSignal;
  /** Called synchronously for each piece; must not throw. */
  readonly onDelta: (delta: StreamDelta) => void;
}

/** Asks a model for one step. */
export type ModelStream = (
  request: ModelRequest,
  options: ModelStreamOptions,
) => Promise<ModelFinished | ModelFailed>;

/** Tells the two outcomes apart. */
export function isModelFailed(outcome: ModelFinished | ModelFailed): outcome is ModelFailed {
  return "error" in outcome;
}

/** Where the built-in scripted model lives; everything else is a provider's. */
export const REHEARSAL_MODEL = "callboard/rehearsal";

/** Sends each request to the stream that its model name belongs to. */
export function routeModels(streams: { rehearsal: ModelStream; provider: ModelStream }): ModelStream {
  return (request, options) =>
    request.model === REHEARSAL_MODEL
      ? streams.rehearsal(request, options)
      : streams.provider(request, options);
}
