/**
 * Narrows of GET /messages: which messages match a list of terms, all of which must hold.
 *
 * Operands may be ids or names, as on a real server. An operator that the fake does not know is refused, so that no test passes on a filter that
 * filters nothing.
 */
import { type FakeMessage, type World, ZulipRefusal } from "./world.ts";

export interface NarrowTerm {
  readonly operator: string;
  readonly operand: unknown;
  readonly negated?: boolean;
}

export function matchesNarrow(
  world: World,
  userId: number,
  message: FakeMessage,
  terms: readonly NarrowTerm[],
): boolean {
  return terms.every((term) => matches(world, userId, message, term) !== (term.negated ?? false));
}

function matches(
  world: World,
  userId: number,
  message: FakeMessage,
  { operator, operand }: NarrowTerm,
): boolean {
  const { place } = message;
  switch (operator) {
    case "channel":
    case "stream":
      return "channelId" in place && world.channel(keyOf(operand)).id === place.channelId;
    case "topic":
      return "channelId" in place && place.topic.toLowerCase() === String(operand).toLowerCase();
    case "sender":
      return world.findUser(keyOf(operand)).id === message.senderId;
    case "dm":
    case "pm-with": {
      if (!("userIds" in place)) return false;
      const ids = (Array.isArray(operand) ? operand : [operand]).map((key) => world.findUser(keyOf(key)).id);
      return [...new Set([...ids, userId])].sort((a, b) => a - b).join() === place.userIds.join();
    }
    case "id":
      return message.id === Number(operand);
    case "channels":
      return "channelId" in place && operand === "public" && !world.channel(place.channelId).isPrivate;
    case "is":
      return matchesIs(userId, message, operand);
    default:
      throw new ZulipRefusal(`Invalid narrow operator: unknown operator '${operator}'`);
  }
}

function matchesIs(userId: number, message: FakeMessage, operand: unknown): boolean {
  switch (operand) {
    case "dm":
    case "private":
      return "userIds" in message.place;
    case "mentioned":
      return message.rows.has(userId) && message.mentioned.has(userId);
    case "resolved":
      return "channelId" in message.place && message.place.topic.startsWith("✔ ");
    default:
      throw new ZulipRefusal(`Invalid narrow operator: unknown 'is' operand '${operand}'`);
  }
}

function keyOf(operand: unknown): number | string {
  if (typeof operand === "number" || typeof operand === "string") return operand;
  throw new ZulipRefusal("Invalid narrow operator: bad operand");
}
