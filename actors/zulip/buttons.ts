/**
 * The buttons under a card. Zulip shows a zform, and pressing one sends its `reply` as an ordinary message of the person who pressed; so this
 * file makes replies and reads them. A reply names the card, the item's version, and a code that nobody could know before the card stood there.
 * The form is a message of its own: a message with a form cannot be edited. Where no form is shown (phones), its words say what to send. Pure.
 * Proven by `buttons_test.ts`.
 */
import { mention, type Mentionable } from "../../zulip/mention.ts";
import type { Message } from "../../zulip/wire/messages.ts";

/** What somebody chose. */
export interface Choice {
  readonly decision: "allow" | "reject";
  /** The card's message. */
  readonly messageId: number;
  readonly version: number;
  readonly code: string;
}

const TOKEN = /^(\d{1,15})-(\d{1,9})-([0-9a-z]{8})$/;
const CODE_LENGTH = 8;

/** The key of a form's post; one form a version. */
export function buttonsKey(itemId: string, version: number): string {
  return `buttons/${itemId}/${version}`;
}

/** The secret part of a choice: the end of the local id under which the card was posted, which is random and which only the poster saw. */
export function codeOf(localId: string): string {
  return localId.slice(-CODE_LENGTH);
}

/** The form's words. */
export function buttonsBody({ messageId, version, code }: Omit<Choice, "decision">): string {
  const token = `${messageId}-${version}-${code}`;
  return `Decide the card above by a button, or by sending \`!allow ${token}\` or \`!reject ${token}\`.`;
}

/** The form of a body that `buttonsBody` made, as Zulip's `widget_content`; undefined for any other. */
export function buttonsWidget(body: string, bot: Mentionable): string | undefined {
  const [, allow, reject] = /`(!allow [\w-]+)` or `(!reject [\w-]+)`\.$/.exec(body) ?? [];
  if (allow === undefined || reject === undefined) return undefined;
  const choice = (shortName: string, longName: string, reply: string) => ({
    type: "multiple_choice",
    short_name: shortName,
    long_name: longName,
    // Without the mention it would not reach a bot that is not subscribed.
    reply: `${mention(bot)} ${reply}`,
  });
  return JSON.stringify({
    widget_type: "zform",
    extra_data: {
      type: "choices",
      heading: "Decide the card above",
      choices: [choice("👍", "Allow once", allow), choice("👎", "Reject", reject)],
    },
  });
}

/** Reads the words after `!allow` or `!reject`. */
export function readChoice(decision: Choice["decision"], argument: string): Choice | undefined {
  const [, messageId, version, code] = TOKEN.exec(argument.trim()) ?? [];
  if (messageId === undefined || version === undefined || code === undefined) return undefined;
  return { decision, messageId: Number(messageId), version: Number(version), code };
}

/**
 * Whether a message is a form that somebody else made: its buttons may say one thing and send another, so while one stands near a card no reply
 * there can be believed to be meant.
 */
export function isForeignForm(message: Message, botId: number): boolean {
  return message.submessages.some(({ msgType, content }) =>
    msgType === "widget" && message.senderId !== botId && !isHarmless(content)
  );
}

/** A vote or a tick sends no message. */
function isHarmless(content: string): boolean {
  try {
    const widget: unknown = JSON.parse(content);
    return typeof widget === "object" && widget !== null && "widget_type" in widget &&
      (widget.widget_type === "poll" || widget.widget_type === "todo");
  } catch {
    return false;
  }
}
