/**
 * The Zulip gateway's two directions: what arrives from the webhook, and what conversations and approval want to have shown in a topic.
 * A topic is named by its conversation; the gateway alone knows where that conversation stands now.
 */
import * as z from "zod";
import { message } from "./define.ts";
import { Described } from "./tools.ts";

/** A message that came by the outgoing webhook, as Zulip sent it (parsed again by the gateway). */
export const ZulipReceived = z.object({
  realm: z.string(),
  messageId: z.int(),
  message: z.record(z.string(), z.unknown()),
});
export type ZulipReceived = z.infer<typeof ZulipReceived>;

/**
 * The answer so far; shown by editing one message. `text` is the whole transcript of the turn up to now, `version` rises within a turn.
 * `triggerId` is the message being answered.
 */
export const TopicProgress = z.object({
  turnId: z.string(),
  version: z.int(),
  text: z.string(),
  /** One short line while there is no text: `Thinking…`, `waiting for an approval`. */
  status: z.string().max(300),
  triggerId: z.int().optional(),
});
export type TopicProgress = z.infer<typeof TopicProgress>;

/** The final answer of a turn. An empty `text` with `silent` removes what progress had posted. */
export const TopicAnswer = z.object({
  turnId: z.string(),
  text: z.string(),
  footer: z.string().max(500).optional(),
  status: z.enum(["complete", "aborted", "failed"]),
  silent: z.boolean().default(false),
  triggerId: z.int().optional(),
});
export type TopicAnswer = z.infer<typeof TopicAnswer>;

/** A note in the topic (parked, refused, mailbox full). `key` makes it appear once. */
export const TopicNote = z.object({
  conversation: z.string(),
  key: z.string().max(200),
  text: z.string().max(9000),
});
export type TopicNote = z.infer<typeof TopicNote>;

/** A note to one person alone, about an item that waits for them. `key` makes it appear once. */
export const PersonNote = z.object({
  zulipUserId: z.int(),
  itemId: z.string(),
  key: z.string().max(200),
  text: z.string().max(2000),
});
export type PersonNote = z.infer<typeof PersonNote>;

/** Shows, or brings up to date, the card of a pending item in its topic. */
export const CardShow = z.object({
  conversation: z.string(),
  itemId: z.string(),
  version: z.int(),
  kind: z.enum(["approval", "question", "elicitation", "restart"]),
  state: z.enum(["waiting", "decided", "applied", "failed", "expired", "superseded", "cancelled"]),
  tool: z.string().optional(),
  /** What began the turn that asks. */
  trigger: z.enum(["person", "schedule"]).optional(),
  described: Described.optional(),
  question: z.string().optional(),
  suggestions: z.array(z.string()).default([]),
  decision: z.string().optional(),
  decidedBy: z.string().optional(),
  /** Somebody may decide it by a reaction or a button, as far as people are concerned. */
  reactions: z.boolean().default(false),
});
export type CardShow = z.infer<typeof CardShow>;

/** Message types of this subject. */
export const zulipMessages = {
  "zulip.received": message(["edge"], ["zulip"], ZulipReceived, { recovery: "repeat" }),
  "topic.progress": message(["conversation"], ["zulip"], TopicProgress, { durable: false }),
  "topic.answer": message(["conversation"], ["zulip"], TopicAnswer, { recovery: "settle", request: true }),
  "topic.note": message(["conversation", "approval", "supervisor"], ["zulip"], TopicNote, {
    recovery: "settle",
  }),
  "person.note": message(["approval"], ["zulip"], PersonNote, { recovery: "settle" }),
  "card.show": message(["approval"], ["zulip"], CardShow, { recovery: "settle" }),
} as const;
