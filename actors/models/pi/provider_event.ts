/**
 * Reads from a provider's own stream event what pi-ai's normalised events do not tell.
 *
 * Pure; understands the three protocols by the shape of the event. What it cannot read says nothing.
 * Proved by `pi_stream_test.ts`.
 */

import * as z from "zod";

/** What one provider event tells beyond pi-ai's events. */
export interface ProviderHint {
  /** The model did something; a keep-alive is no progress. */
  readonly progress: boolean;
  /** Nothing but usage can still come. */
  readonly finished: boolean;
  /** Text of a refusal: empty when the refusal is also streamed as ordinary text. */
  readonly refusal?: string;
  /** The complete argument text of a call, by pi-ai's id of it. */
  readonly finalArguments?: { readonly id: string; readonly text: string };
}

const Typed = z.object({ type: z.string() });
const FunctionCallDone = z.object({
  type: z.literal("response.output_item.done"),
  item: z.object({
    type: z.literal("function_call"),
    id: z.string().nullish(),
    call_id: z.string(),
    arguments: z.string(),
  }),
});
const CompletionsChunk = z.object({
  choices: z.array(z.object({
    finish_reason: z.string().nullish(),
    delta: z.object({ refusal: z.string().nullish() }).nullish(),
  })),
});

const FINAL_TYPES = new Set(["message_stop", "response.completed", "response.incomplete", "response.failed"]);
const REFUSAL_TYPES = new Set(["response.refusal.delta", "response.refusal.done"]);

/** Reads one event of any of the three protocols. */
export function readProviderEvent(event: unknown): ProviderHint {
  const call = FunctionCallDone.safeParse(event);
  if (call.success) {
    const { call_id, id, arguments: text } = call.data.item;
    return { progress: true, finished: false, finalArguments: { id: `${call_id}|${id}`, text } };
  }
  const typed = Typed.safeParse(event);
  if (typed.success) {
    const { type } = typed.data;
    return {
      progress: type !== "ping" && type !== "keepalive",
      finished: FINAL_TYPES.has(type),
      ...(REFUSAL_TYPES.has(type) && { refusal: "" }),
    };
  }
  const chunk = CompletionsChunk.safeParse(event);
  const choice = chunk.success ? chunk.data.choices[0] : undefined;
  return {
    progress: true,
    finished: Boolean(choice?.finish_reason),
    ...(choice?.delta?.refusal && { refusal: choice.delta.refusal }),
  };
}
