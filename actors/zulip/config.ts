/**
 * What the Zulip gateway is told in its start message. The key never leaves this process.
 */
import * as z from "zod";
import { Provider } from "./model_choice.ts";

export const ZulipConfig = z.object({
  /** The server's origin; also the realm's name in our rows. */
  site: z.url(),
  email: z.string().min(3),
  apiKey: z.string().min(8),
  /** Channel names, or `*` for every channel that the bot is subscribed to. */
  channels: z.array(z.string()),
  /** Empty: everyone in the realm who is no bot. */
  allowedUserIds: z.array(z.int()).default([]),
  dms: z.boolean().default(false),
  /** Where people open the inbox; shown on cards of high risk. */
  inboxUrl: z.string().optional(),
  /** Whether cards that a reaction may decide get buttons too, in a message of their own. */
  buttons: z.boolean().default(true),
  /** What `!model` may choose from. */
  providers: z.array(Provider),
  /** May be chosen whatever is known of it. */
  defaultModel: z.string().optional(),
  /** Least time between two edits of one streamed answer, milliseconds. */
  editIntervalMs: z.int().min(50).default(1_500),
  /** Edits a minute for all streamed answers together; Zulip allows 200 calls a minute and answers must get through. */
  editsPerMinute: z.int().min(1).default(100),
  /** How long after a POST without an answer history is believed to be complete, milliseconds. */
  settleAfterMs: z.int().min(100).default(60_000),
});
export type ZulipConfig = z.infer<typeof ZulipConfig>;
