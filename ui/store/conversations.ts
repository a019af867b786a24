/**
 * The list of conversations: rows from pages and from the stream, merged by when they last changed. A search looks among the rows that are here at once,
 * and among all others at the server. Proven by `store_test.ts`.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
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
  /** The server has not said yet what it finds. */
  readonly isSearching: ReadonlySignal<boolean>;
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

/** A search goes to the server once nothing was typed for so long. */
const PAUSE_MS = 250;

/** Builds the store. `after` calls back once after so many milliseconds; what it returns cancels that. */
export function createConversations(
  api: Api,
  after: (ms: number, callback: () => void) => () => void,
): ConversationsStore {
  const rows = signal<Known>(new Map());
  const search = signal("");
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const next = signal<string | undefined>(undefined);
  const nextFound = signal<string | undefined>(undefined);
  const isSearching = signal(false);
  const hasMore = computed(() => (wanted() === undefined ? next.value : nextFound.value) !== undefined);
  let cancelSearch = () => {};

  /** What is searched for; undefined for nothing. */
  function wanted(): string | undefined {
    return search.value.trim() || undefined;
  }

  async function page(from: string | undefined, text?: string): Promise<void> {
    try {
      const answer = await api.conversations(from, text);
      rows.value = mergeConversations(rows.peek(), answer.conversations);
      if (text === undefined) {
        next.value = answer.next;
        loaded.value = true;
      } else if (text === wanted()) nextFound.value = answer.next;
      error.value = undefined;
    } catch (failure) {
      error.value = sentenceOf(failure);
    }
    if (text === wanted()) isSearching.value = false;
  }

  function find(): void {
    const text = wanted();
    cancelSearch();
    nextFound.value = undefined;
    isSearching.value = text !== undefined;
    if (text !== undefined) cancelSearch = after(PAUSE_MS, () => void page(undefined, text));
  }

  return {
    rows,
    search,
    isSearching,
    loaded,
    error,
    hasMore,
    setSearch: (text) => {
      search.value = text;
      find();
    },
    load: () => page(undefined),
    more: () => wanted() === undefined ? page(next.peek()) : page(nextFound.peek(), wanted()),
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
      find();
      next.value = undefined;
      loaded.value = false;
      error.value = undefined;
    },
  };
}
