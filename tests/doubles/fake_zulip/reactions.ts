/**
 * Reactions in the fake realm. As on a real server, a code is what counts: the first reaction fixes the name under which later ones appear, a second one
 * by the same person is refused, and so is an emoji that nobody knows.
 */
import { type FakeMessage, type FakeReaction, type FakeUser, type World, ZulipRefusal } from "./world.ts";

/** The emoji that the fake knows, with a real server's codes. */
const EMOJI: Readonly<Record<string, string>> = {
  "+1": "1f44d",
  "-1": "1f44e",
  thumbs_up: "1f44d",
  thumbs_down: "1f44e",
  alarm_clock: "23f0",
  check: "2705",
  cross_mark: "274c",
  eyes: "1f440",
  hourglass: "231b",
  inbox_tray: "1f4e5",
  octagonal_sign: "1f6d1",
  robot: "1f916",
  tada: "1f389",
  warning: "26a0",
  wastebasket: "1f5d1",
  working_on_it: "1f6e0",
  x: "274c",
  zzz: "1f4a4",
};

export interface EmojiRef {
  readonly name: string;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
}

function resolveEmoji(emoji: EmojiRef): { name: string; code: string; type: string } {
  const code = emoji.code ?? EMOJI[emoji.name];
  if (code === undefined) throw new ZulipRefusal(`Emoji '${emoji.name}' does not exist`);
  return { name: emoji.name, code, type: emoji.type ?? "unicode_emoji" };
}

export function react(world: World, user: FakeUser, message: FakeMessage, ref: EmojiRef): void {
  const emoji = resolveEmoji(ref);
  if (message.reactions.some((r) => sameReaction(r, user, emoji))) {
    throw new ZulipRefusal("Reaction already exists.", { code: "REACTION_ALREADY_EXISTS" });
  }
  // The first reaction with a code fixes its name.
  const name = message.reactions.find((r) => r.code === emoji.code && r.type === emoji.type)?.name ??
    emoji.name;
  const reaction: FakeReaction = { userId: user.id, name, code: emoji.code, type: emoji.type };
  message.reactions.push(reaction);
  publishReaction(world, "add", user, message, reaction);
}

export function unreact(world: World, user: FakeUser, message: FakeMessage, ref: EmojiRef): void {
  const emoji = resolveEmoji(ref);
  const found = message.reactions.find((r) => sameReaction(r, user, emoji));
  if (!found) throw new ZulipRefusal("Reaction doesn't exist.", { code: "REACTION_DOES_NOT_EXIST" });
  message.reactions = message.reactions.filter((r) => r !== found);
  publishReaction(world, "remove", user, message, found);
}

function sameReaction(r: FakeReaction, user: FakeUser, emoji: { code: string; type: string }): boolean {
  return r.userId === user.id && r.code === emoji.code && r.type === emoji.type;
}

function publishReaction(
  world: World,
  op: "add" | "remove",
  user: FakeUser,
  message: FakeMessage,
  r: FakeReaction,
) {
  world.queues.publish("reaction", (queue) =>
    world.followsMessage(queue.userId, message)
      ? {
        type: "reaction",
        op,
        user_id: user.id,
        user: { user_id: user.id, email: user.email, full_name: user.fullName },
        message_id: message.id,
        emoji_name: r.name,
        emoji_code: r.code,
        reaction_type: r.type,
      }
      : null);
}
