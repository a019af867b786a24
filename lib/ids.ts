/**
 * Identifiers. The only importer of `uuidv7`: sortable by time, monotonic within a process, and unguessable enough (74 random
 * bits) for an id that a person may type into an address bar. Ids are branded so that one kind is not passed for another.
 */
import { uuidv7 } from "uuidv7";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]?: Name };

/** Id of a conversation, the part after `conversation/`. */
export type ConversationId = Branded<"ConversationId">;
/** Id of a message row and envelope (UUIDv7). */
export type MessageId = Branded<"MessageId">;
/** Id of a turn: the id of the message that started it. */
export type TurnId = Branded<"TurnId">;
/** Id of a tool call, unique in the whole database. */
export type CallId = Branded<"CallId">;
/** Id of a pending item (UUIDv7). */
export type ItemId = Branded<"ItemId">;

/** Makes a fresh id. Injected wherever ids are needed, so that tests can number them. */
export type NewId = () => string;

/** The real id source: UUIDv7 (RFC 9562). */
export const newId: NewId = () => uuidv7();

/** A text that is above every UUIDv7 made before `ms` (since the epoch) and below every one made from then on, in the order of texts. */
export function idFloor(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
