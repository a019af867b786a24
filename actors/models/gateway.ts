/**
 * The models gateway: answers each `model.stream` with deltas and then exactly one `model.finished` or `model.failed`.
 *
 * Promises: a step is begun only after `started` is on disk; steps of one conversation run in order, those of different
 * ones at once; `model.cancel` also stops a step that has not begun yet; a gateway that must stop fails its steps as
 * transient, so that they are run again. It never retries and knows no provider. Proved by `gateway_test.ts`.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Delivery, Effects, Envelope, Gateway, GatewayContext } from "../../runtime/actor.ts";
import { type ModelFailed, type ModelFinished, ModelRequest } from "../protocol/model.ts";
import { ModelCancel } from "../protocol/models.ts";
import { coalesceDeltas } from "./coalesce.ts";
import { isModelFailed, type ModelStream } from "./model_stream.ts";

/** How many cancelled turns are remembered, for requests that are still on their way. */
const MAX_CANCELLED = 1_000;

export interface ModelsGatewayOptions {
  /** Opens the stream when the gateway starts. */
  readonly open: (context: GatewayContext) => { readonly stream: ModelStream; close(): void };
  readonly clock: Pick<Clock, "after" | "monotonic">;
}

/** Makes the gateway. */
export function createModelsGateway({ open, clock }: ModelsGatewayOptions): Gateway {
  let context: GatewayContext | undefined;
  let opened: ReturnType<ModelsGatewayOptions["open"]> | undefined;
  const running = new Map<string, AbortController>();
  const cancelled = new Set<string>();

  function cancel(turn: string): void {
    running.get(turn)?.abort();
    cancelled.add(turn);
    const [oldest] = cancelled;
    if (cancelled.size > MAX_CANCELLED && oldest !== undefined) cancelled.delete(oldest);
  }

  async function step(delivery: Delivery): Promise<Effects> {
    if (context === undefined || opened === undefined) {
      throw new TypeError("the models gateway was not started");
    }
    const { message } = delivery;
    const request = ModelRequest.parse(message.payload);
    const turn = turnKey(message.from, request.turnId);
    if (cancelled.has(turn)) return reply(message, abortedBefore(request));
    const { step, attempt, model } = request;
    const committed = await delivery.started({ step, attempt, model });
    // If the lease has passed on, this answer cannot be committed either, and the next gateway runs the step.
    if (!committed.ok || !context.mayAct()) return reply(message, notNow(request));

    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, delivery.signal, context.signal]);
    running.set(turn, abort);
    if (cancelled.has(turn)) abort.abort();
    const { emit, log } = context;
    const deltas = coalesceDeltas({
      clock,
      attempt: { turnId: request.turnId, step, attempt },
      emit: (delta) => emit({ to: message.from, type: "model.delta", payload: delta }),
    });
    const startedAt = clock.monotonic();
    try {
      const outcome = await opened.stream(request, { signal, onDelta: (delta) => deltas.push(delta) });
      deltas.close();
      log("info", "model step", {
        model,
        step,
        attempt,
        ms: Math.round(clock.monotonic() - startedAt),
        ...facts(outcome),
      });
      return reply(message, context.signal.aborted ? stopping(outcome) : outcome);
    } finally {
      deltas.close();
      running.delete(turn);
    }
  }

  return {
    start(started) {
      context = started;
      opened = open(started);
      return Promise.resolve();
    },
    keyOf: (message) => message.from,
    async handle(delivery) {
      const { type, from, payload } = delivery.message;
      switch (type) {
        case "model.stream":
          return await step(delivery);
        case "model.cancel":
          return cancel(turnKey(from, ModelCancel.parse(payload).turnId));
        default:
          throw new TypeError(`the models gateway got a "${type}"`);
      }
    },
    stop() {
      opened?.close();
      opened = undefined;
      return Promise.resolve();
    },
  };
}

function turnKey(conversation: string, turnId: string): string {
  return `${conversation} ${turnId}`;
}

function reply({ from }: Envelope, outcome: ModelFinished | ModelFailed): Effects {
  return {
    send: [{ to: from, type: isModelFailed(outcome) ? "model.failed" : "model.finished", payload: outcome }],
  };
}

function abortedBefore({ turnId, step, attempt }: ModelRequest): ModelFailed {
  const error = { class: "aborted", message: "The model step was cancelled before it began." } as const;
  return { turnId, step, attempt, error, items: [] };
}

function notNow({ turnId, step, attempt }: ModelRequest): ModelFailed {
  const error = { class: "transient", message: "The models gateway may not act at the moment." } as const;
  return { turnId, step, attempt, error, items: [] };
}

/** Nobody cancelled the step: it ends because we do. */
function stopping(outcome: ModelFinished | ModelFailed): ModelFinished | ModelFailed {
  if (!isModelFailed(outcome) || outcome.error.class !== "aborted") return outcome;
  return {
    ...outcome,
    error: { class: "transient", message: "The models gateway was stopped during the step." },
  };
}

/** What the log may hold: numbers and classes, no text of anybody. */
function facts(outcome: ModelFinished | ModelFailed): Record<string, unknown> {
  if (isModelFailed(outcome)) {
    return { failed: outcome.error.class, retryAfterMs: outcome.error.retryAfterMs };
  }
  const { inputTokens, outputTokens, cacheReadTokens, costUsd } = outcome.usage;
  return { stopReason: outcome.stopReason, inputTokens, outputTokens, cacheReadTokens, costUsd };
}
