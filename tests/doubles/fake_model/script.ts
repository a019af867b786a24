/**
 * What the fake model server can be told to answer, protocol-neutral and JSON-serialisable.
 *
 * A reply is a list of steps, written out in order. An `http`, `overflow` or `drop` step stands alone. A reply that
 * does not end in `finish`, `cut`, `close` or `stay_open` is finished with the reason that its content implies.
 */

import * as z from "zod";

const FinishReason = z.enum(["stop", "tool_use", "length", "refusal"]);

/** One thing that the fake model does. */
export const Step = z.discriminatedUnion("do", [
  /** Visible text, one stream event a chunk. */
  z.object({ do: z.literal("text"), chunks: z.array(z.string()) }),
  z.object({ do: z.literal("reasoning"), chunks: z.array(z.string()), signature: z.string().optional() }),
  /** A tool call; `fragments` are pieces of its argument text, cut wherever it pleases. */
  z.object({
    do: z.literal("call"),
    name: z.string(),
    id: z.string().optional(),
    fragments: z.array(z.string()),
  }),
  /** Refuses the request with this status. */
  z.object({
    do: z.literal("http"),
    status: z.int(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.string().optional(),
  }),
  /** Refuses the request as too long, in the protocol's own words. */
  z.object({ do: z.literal("overflow") }),
  /** An error event after the 200. */
  z.object({ do: z.literal("error"), type: z.string(), message: z.string() }),
  /** Waits until `release()`. */
  z.object({ do: z.literal("hang") }),
  /** Bytes as they are. */
  z.object({ do: z.literal("raw"), text: z.string() }),
  /** Ends the item that is being written, and the answer. */
  z.object({ do: z.literal("finish"), reason: FinishReason }),
  /** Breaks the connection. */
  z.object({ do: z.literal("cut") }),
  /** Ends the answer cleanly but without a finish. */
  z.object({ do: z.literal("close") }),
  /** Finishes, but leaves the connection open until `release()`. */
  z.object({ do: z.literal("stay_open"), reason: FinishReason }),
]);
export type Step = z.infer<typeof Step>;
export type FinishReason = z.infer<typeof FinishReason>;

export const Reply = z.array(Step);
export type Reply = z.infer<typeof Reply>;

/** One message of a request, in the words of no provider. */
export interface SeenMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Which call a tool message answers. */
  readonly callId?: string;
}

/** A request as the fake model saw it. */
export interface SeenRequest {
  readonly protocol: "anthropic" | "responses" | "completions";
  readonly model: string;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  readonly tools: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The request body as it came. */
  readonly body: unknown;
}

/** Answers a request. */
export type ModelScript = (request: SeenRequest) => Reply | Promise<Reply>;

/** Says `text`, in the given chunks or word by word. */
export function say(...chunks: string[]): Step {
  const [only = ""] = chunks;
  return { do: "text", chunks: chunks.length === 1 ? only.split(/(?<= )/) : chunks };
}

/** Calls a tool; the arguments are cut into small pieces. */
export function call(name: string, args: unknown, id?: string): Step {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const fragments = text.match(/[\s\S]{1,7}/g) ?? [];
  return { do: "call", name, fragments, ...(id !== undefined && { id }) };
}

/** Refuses with a status, and optionally seconds to wait. */
export function refuse(status: number, options: { retryAfter?: string; body?: string } = {}): Step {
  return {
    do: "http",
    status,
    ...(options.retryAfter !== undefined && { headers: { "retry-after": options.retryAfter } }),
    ...(options.body !== undefined && { body: options.body }),
  };
}
