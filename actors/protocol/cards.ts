/**
 * What people do to an item's card in its topic, as the Zulip gateway tells approval. The gateway looks at none of it: approval checks who it was, the
 * item, its version and its risk.
 */
import * as z from "zod";

/** A reaction to a message that may be a card, or one of its buttons; approval checks everything about it itself. */
export const ApprovalReact = z.object({
  messageId: z.int(),
  zulipUserId: z.int(),
  name: z.string(),
  emoji: z.string(),
  /** It was found standing there, and may have been heard before. */
  standing: z.boolean().optional(),
  /** A button: the version whose buttons they were, and where to say that it came too late. */
  button: z.object({ version: z.int(), conversation: z.string() }).optional(),
});
export type ApprovalReact = z.infer<typeof ApprovalReact>;

/** A message that was a card was deleted. */
export const CardGone = z.object({ messageId: z.int() });
export type CardGone = z.infer<typeof CardGone>;
