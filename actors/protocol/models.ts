/**
 * One model step as messages: the request, its coalesced deltas and its one reply. The payloads are those of `model.ts`.
 */
import * as z from "zod";
import { message } from "./define.ts";
import { ModelDelta, ModelFailed, ModelFinished, ModelRequest } from "./model.ts";

/** Stops the step that runs for this turn; the step answers with `model.failed` of class `aborted`. */
export const ModelCancel = z.object({ turnId: z.string() });
export type ModelCancel = z.infer<typeof ModelCancel>;

/** Message types of this subject. */
export const modelMessages = {
  "model.stream": message(["conversation"], ["models"], ModelRequest, { recovery: "repeat", request: true }),
  "model.cancel": message(["conversation"], ["models"], ModelCancel, { lane: "control", recovery: "repeat" }),
  "model.delta": message(["models"], ["conversation"], ModelDelta, { durable: false }),
  "model.finished": message(["models"], ["conversation"], ModelFinished),
  "model.failed": message(["models"], ["conversation"], ModelFailed),
} as const;
