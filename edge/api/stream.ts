/**
 * Server-sent events. Part of `edge/api.ts`.
 */
import * as z from "zod";
import { ActorView } from "./actors.ts";
import { ConversationSummary } from "./conversations.ts";
import { Item } from "./inbox.ts";

/** A piece of an answer or of tool output that is still growing; `offset` in UTF-16 units from the item's start. */
export const Delta = z.object({
  turnId: z.string(),
  item: z.string(),
  kind: z.enum(["text", "reasoning", "output"]),
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type Delta = z.infer<typeof Delta>;

/**
 * `GET /api/stream?after=&conversation=`: server-sent events. The `event:` field is the key, `data:` the JSON value. Every event but `delta` has an
 * `id:` that moves the cursor; the header `Last-Event-ID` or `?after=` resumes behind it. After `reset` the client reads its lists anew.
 */
export const streamEvents = {
  /** First of every connection: the cursor from which this stream continues. */
  hello: z.object({ cursor: z.int(), version: z.string() }),
  /** A pending item as it stands now. */
  item: z.object({ item: Item }),
  /** An actor changed; `actor` is absent when the edge only has rows and knows none. */
  actor: z.object({ ref: z.string(), actor: ActorView.optional() }),
  /** A conversation's row changed. */
  conversation: z.object({ conversation: ConversationSummary }),
  /** A conversation's log now reaches `seq`: read `GET …/events?after=` from where you are. */
  events: z.object({ conversation: z.string(), seq: z.int() }),
  schedule: z.object({ ref: z.string() }),
  policy: z.object({ ref: z.string() }),
  /** Only for conversations named in `?conversation=` (repeatable), never resumed. */
  delta: z.object({ conversation: z.string(), delta: Delta }),
  /** The cursor is unknown or older than what is kept. */
  reset: z.object({ cursor: z.int() }),
} as const;

/** The name of a stream event. */
export type StreamEventName = keyof typeof streamEvents;

/** A stream event with its data, discriminated on `event`. */
export type StreamEvent = {
  [Name in StreamEventName]: { event: Name; data: z.infer<(typeof streamEvents)[Name]>; id?: number };
}[StreamEventName];
