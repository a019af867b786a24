/**
 * Whether a message engages the bot: the gates in their order, as one pure function. It knows no rows and does no calls.
 * Proven by `intake_test.ts`, one case a gate.
 */
import { hasMention, type Mentionable } from "../../zulip/mention.ts";
import type { Message } from "../../zulip/wire/messages.ts";

/** Everything that the gates look at besides the message. */
export interface GateContext {
  readonly bot: Mentionable;
  /** Newest message already handled by the event queue; null for one that came by webhook. */
  readonly mark: number | null;
  isBot(userId: number): boolean;
  /** Whether the channel is served; the answer may change with the bot's subscriptions. */
  serves(channelId: number): boolean;
  readonly dms: boolean;
  /** Empty: everyone. */
  readonly allowedUserIds: readonly number[];
  /** Whether the place already belongs to a conversation. */
  isEngaged(message: Message): boolean;
  /** The queue's `mentioned` flag, or that the webhook was triggered. */
  readonly flagged: boolean;
}

/** Why a message is passed over; the words go to the log. */
export type Drop =
  | "handled before"
  | "own message"
  | "system bot"
  | "bot"
  | "empty"
  | "direct messages are off"
  | "channel is not served"
  | "sender is not allowed"
  | "not addressed";

export type Gated = { readonly pass: true; readonly addressed: boolean } | {
  readonly pass: false;
  readonly why: Drop;
};

const drop = (why: Drop): Gated => ({ pass: false, why });

/** Runs the gates. */
export function gate(message: Message, context: GateContext): Gated {
  if (context.mark !== null && message.id <= context.mark) return drop("handled before");
  // Before every allowlist: an answer of ours must never become a turn.
  if (message.senderId === context.bot.id) return drop("own message");
  if (message.senderRealm === "zulipinternal") return drop("system bot");
  if (context.isBot(message.senderId)) return drop("bot");
  if (message.content.trim() === "") return drop("empty");
  const direct = message.place.kind === "direct";
  if (direct && !context.dms) return drop("direct messages are off");
  if (message.place.kind === "channel" && !context.serves(message.place.channelId)) {
    return drop("channel is not served");
  }
  const addressed = direct || context.flagged || hasMention(message.content, context.bot);
  if (context.allowedUserIds.length > 0 && !context.allowedUserIds.includes(message.senderId)) {
    return drop("sender is not allowed");
  }
  if (!addressed && !context.isEngaged(message)) return drop("not addressed");
  return { pass: true, addressed };
}
