/**
 * The body that Zulip POSTs to an outgoing-webhook bot (interface "generic"), and the two answers we give.
 *
 * Promises: one schema for all supported servers. The token is a bearer secret, not a signature: the caller compares it in constant time and keeps it out
 * of logs. The same message may arrive up to four times; its id is the key. Proved by `wire_test.ts`.
 */
import * as z from "zod";
import { Message } from "./messages.ts";

export const WebhookPayload = z.object({
  token: z.string(),
  trigger: z.string(),
  bot_email: z.string(),
  bot_full_name: z.string().default(""),
  /** The raw Markdown, the mention left in. */
  data: z.string().default(""),
  message: Message,
}).transform((p) => ({
  token: p.token,
  /** `private_message` is the name before feature level 201. */
  trigger: p.trigger === "private_message" ? "direct_message" : p.trigger,
  botEmail: p.bot_email,
  botName: p.bot_full_name,
  data: p.data,
  message: p.message,
}));
export type WebhookPayload = z.output<typeof WebhookPayload>;

/** Nothing is posted; the answer follows through the REST API. Any other shape, or no JSON, is posted in public as a failure. */
export const RESPONSE_NOT_REQUIRED = { response_not_required: true } as const;
