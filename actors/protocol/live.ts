/**
 * What only live viewers see: pieces of an answer and of tool output. Never a row; the supervisor hands them to the edge's streams.
 */
import * as z from "zod";
import { message } from "./define.ts";

/**
 * A piece of an open item. `offset` is where `text` goes, in UTF-16 units from the item's start, so that a viewer that missed a piece knows.
 */
export const LiveDelta = z.object({
  turnId: z.string(),
  item: z.string(),
  kind: z.enum(["text", "reasoning", "output"]),
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type LiveDelta = z.infer<typeof LiveDelta>;

/** Message types of this subject. */
export const liveMessages = {
  "live.delta": message(["conversation"], ["edge"], LiveDelta, { durable: false }),
} as const;
