/**
 * The list of conversations: rows from pages and from the stream, merged by when they last changed. Proven by `store_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { ConversationSummary } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";

type Known = ReadonlyMap<string, ConversationSummary>;

/** The map with every row that is at least as new as the one known. */
export function mergeConversations(known: Known, news: readonly ConversationSummary[]): Known {
  const merged = new Map(known);
  for (const row of news) {
    const old = merged.get(row.id);
    if (old === undefined || row.updatedAt >= old.updatedAt) merged.set(row.id, row);
  }
  return merged;
}

/** The rows whose title, channel or preview holds every word of `search`, the last changed first. */
export function listed(known: Known, search: string): ConversationSummary[] {
  const words = search.toLocaleLowerCase().split(/\s+/).filter((word) => word !== "");
  return [...known.values()]
    .filter((row) => {
      const text = `${row.title} ${row.channel ?? ""} ${row.topic ?? ""} ${row.preview ?? ""}`
        .toLocaleLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => b.updatedAt - a.updatedAt || a.id.localeCompare(b.id));
}

/** The list. */
export interface ConversationsStore {
  readonly rows: ReadonlySignal<Known>;
  readonly search: ReadonlySignal<string>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  readonly hasMore: ReadonlySignal<boolean>;
  setSearch(text: string): void;
  load(): Promise<void>;
  more(): Promise<void>;
  /** Reads one row that is not in the list. */
  fetchOne(id: string): Promise<void>;
  receive(row: ConversationSummary): void;
  clear(): void;
}

/** Builds the store. */
export function createConversations(api: Api): ConversationsStore {
  const rows = signal<Known>(new Map());
  const search = signal("");
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const next = signal<string | undefined>(undefined);
  const hasMore = signal(false);

  async function page(after: string | undefined): Promise<void> {
    try {
      const answer = await api.conversations(after);
      rows.value = mergeConversations(rows.peek(), answer.conversations);
      next.value = answer.next;
      hasMore.value = answer.next !== undefined;
      loaded.value = true;
      error.value = undefined;
    } catch (failure) {
      error.value = sentenceOf(failure);
    }
  }

  return {
    rows,
    search,
    loaded,
    error,
    hasMore,
    setSearch: (text) => {
      search.value = text;
    },
    load: () => page(undefined),
    more: () => page(next.peek()),
    async fetchOne(id) {
      try {
        const row = await api.conversation(id);
        rows.value = mergeConversations(rows.peek(), [row]);
      } catch (failure) {
        error.value = sentenceOf(failure);
      }
    },
    receive(row) {
      rows.value = mergeConversations(rows.peek(), [row]);
    },
    clear() {
      rows.value = new Map();
      search.value = "";
      loaded.value = false;
      hasMore.value = false;
      error.value = undefined;
    },
  };
}
