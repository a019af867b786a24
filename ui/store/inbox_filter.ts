/**
 * Which of the waiting items are shown. Pure. Proven by `tests/browser/bulk_test.ts`.
 */
import type { Item, ItemKind, Risk } from "../../edge/api.ts";

/** What a person looks for; an empty text looks for nothing. */
export interface InboxFilter {
  readonly search: string;
  readonly kind: ItemKind | "";
  readonly risk: Risk | "";
  /** The id of a conversation. */
  readonly conversation: string;
}

/** Shows everything. */
export const noFilter: InboxFilter = { search: "", kind: "", risk: "", conversation: "" };

/** Whether a filter hides anything. */
export function isFiltering({ search, kind, risk, conversation }: InboxFilter): boolean {
  return search.trim() !== "" || kind !== "" || risk !== "" || conversation !== "";
}

/** Whether an item is shown: of this kind, risk and conversation, with every word of the search in something that its card says. */
export function isShown(item: Item, { search, kind, risk, conversation }: InboxFilter): boolean {
  if (kind !== "" && item.kind !== kind) return false;
  if (risk !== "" && item.risk !== risk) return false;
  if (conversation !== "" && item.conversation.id !== conversation) return false;
  const words = search.toLocaleLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return true;
  const { tool, question, described } = item;
  const text = [
    tool,
    question,
    item.conversation.title,
    described?.summary,
    described?.preview?.text,
    ...described?.paths.map(({ path }) => path) ?? [],
    JSON.stringify(item.arguments),
  ].join("\n").toLocaleLowerCase();
  return words.every((word) => text.includes(word));
}

/** The conversations of items, each once, by title. */
export function conversationsOf(items: readonly Item[]): Item["conversation"][] {
  const found = new Map(items.map(({ conversation }) => [conversation.id, conversation]));
  return [...found.values()].sort((a, b) => a.title.localeCompare(b.title));
}

/** What may be rejected together with others. A restart is no call, and waits for no answer. */
export function canRejectMany(item: Item): boolean {
  return item.state === "waiting" && item.kind !== "restart";
}
