/**
 * Pending items as the page knows them: a map that only ever moves forward, whatever order answers and stream events arrive in, and the person's
 * own decisions under way. Nothing is shown as decided before the server says so. Proven by `store_test.ts`.
 */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { DecisionRequest, Item, ItemState } from "../../edge/api.ts";
import { type Api, ApiFailure, sentenceOf } from "../api.ts";
import { strings } from "../strings.ts";

/** How far an item is; a later state never gives way to an earlier one of the same version. */
const ORDER: Readonly<Record<ItemState, number>> = {
  waiting: 0,
  decided: 1,
  applied: 2,
  failed: 2,
  expired: 2,
  superseded: 2,
  cancelled: 2,
};

/** Whether `next` says more than `known`. */
export function isNewer(next: Item, known: Item | undefined): boolean {
  if (known === undefined) return true;
  if (next.version !== known.version) return next.version > known.version;
  if (ORDER[next.state] !== ORDER[known.state]) return ORDER[next.state] > ORDER[known.state];
  return next.updatedAt >= known.updatedAt;
}

/** The map with every item that is news; the same map when none is. */
export function mergeItems(
  known: ReadonlyMap<string, Item>,
  news: readonly Item[],
): ReadonlyMap<string, Item> {
  const fresh = news.filter((item) => isNewer(item, known.get(item.id)));
  if (fresh.length === 0) return known;
  const merged = new Map(known);
  for (const item of fresh) merged.set(item.id, item);
  return merged;
}

/** Whether somebody put it off until later than `now`. */
export function isPutOff(item: Item, now: number): boolean {
  return item.state === "waiting" && (item.laterUntil ?? 0) > now;
}

const RISK_FIRST = { high: 0, medium: 1, low: 2 } as const;

/**
 * What waits: what was handed on first, then the riskiest, and among equals the oldest; what was put off comes last. Items in `kept` stay in their place after they were
 * decided.
 */
export function waitingItems(
  items: Iterable<Item>,
  now: number,
  kept: ReadonlySet<string> = new Set(),
): Item[] {
  const putOff = (item: Item) => isPutOff(item, now) ? 1 : 0;
  const handedOn = (item: Item) => item.escalated ? 0 : 1;
  const risk = (item: Item) => RISK_FIRST[item.risk ?? "low"];
  return [...items]
    .filter((item) => item.state === "waiting" || kept.has(item.id))
    .sort((a, b) =>
      putOff(a) - putOff(b) || handedOn(a) - handedOn(b) || risk(a) - risk(b) || a.createdAt - b.createdAt
    );
}

/** What no longer waits, the latest first. */
export function settledItems(items: Iterable<Item>, limit: number): Item[] {
  return [...items]
    .filter((item) => item.state !== "waiting")
    .sort((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, limit);
}

/** A decision of this page: being sent, or why it did not stand. */
export type Deciding =
  | { readonly phase: "sending"; readonly request: DecisionRequest }
  | { readonly phase: "refused"; readonly request: DecisionRequest; readonly message: string };

/** Why an item that a link names is not shown. `gone`: there is none that the person may see; else it is worth another try. */
export interface Unread {
  readonly gone: boolean;
  readonly message: string;
}

/** The inbox. */
export interface InboxStore {
  readonly items: ReadonlySignal<ReadonlyMap<string, Item>>;
  /** How many wait and were not put off. */
  readonly badge: ReadonlySignal<number>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  /** Items that were asked for by name and could not be read. */
  readonly unread: ReadonlySignal<ReadonlyMap<string, Unread>>;
  /** What keeps the whole from working, in the server's words. */
  readonly notices: ReadonlySignal<readonly string[]>;
  readonly deciding: ReadonlySignal<ReadonlyMap<string, Deciding>>;
  /** Items that were decided here since the inbox was opened: they stay where they were. */
  readonly acted: ReadonlySignal<ReadonlySet<string>>;
  load(): Promise<void>;
  /** Asks again whether everything works: no event tells that it does again. */
  readNotices(): Promise<void>;
  /** Reads one item that a link names. */
  fetchItem(id: string): Promise<void>;
  receive(item: Item): void;
  decide(item: Item, decision: Omit<DecisionRequest, "version">): Promise<void>;
  /** Puts it off for this person; null brings it back. */
  later(item: Item, until: number | null): Promise<void>;
  /** Asks somebody else to decide; null takes it back. */
  delegate(item: Item, userId: string | null): Promise<void>;
  /** Takes back an allowance whose call has not begun; the stream tells how it went. */
  undo(item: Item): Promise<void>;
  /** A card is in front of a person: told to the server once a version. */
  seen(item: Item): Promise<void>;
  /** The inbox was left: what was decided may move to the settled ones. */
  leave(): void;
  clear(): void;
}

/** Items kept for the list of recent decisions. */
const KEEP = 400;

/** Builds the store. `now` is a signal that ticks, so that what was put off comes back by itself. */
export function createInbox(api: Api, now: ReadonlySignal<number>): InboxStore {
  const items = signal<ReadonlyMap<string, Item>>(new Map());
  const deciding = signal<ReadonlyMap<string, Deciding>>(new Map());
  const acted = signal<ReadonlySet<string>>(new Set());
  const seen = new Set<string>();
  const loaded = signal(false);
  const error = signal<string | undefined>(undefined);
  const unread = signal<ReadonlyMap<string, Unread>>(new Map());
  const notices = signal<readonly string[]>([]);
  const badge = computed(() =>
    waitingItems(items.value.values(), now.value).filter((item) => !isPutOff(item, now.value)).length
  );

  function put(news: readonly Item[]): void {
    const merged = mergeItems(items.peek(), news);
    items.value = merged.size > KEEP ? pruned(merged) : merged;
  }

  function note(id: string, entry: Deciding | undefined): void {
    const next = new Map(deciding.peek());
    if (entry) next.set(id, entry);
    else next.delete(id);
    deciding.value = next;
  }

  /** What decides nothing; its failure is shown like a decision's. */
  async function aside(item: Item, request: () => Promise<Item>): Promise<void> {
    try {
      put([await request()]);
      // What was refused before has been done now.
      if (deciding.peek().get(item.id)?.phase === "refused") note(item.id, undefined);
    } catch (failure) {
      const { version } = item;
      note(item.id, {
        phase: "refused",
        request: { version, decision: "cancel" },
        message: sentenceOf(failure),
      });
    }
  }

  return {
    items,
    badge,
    loaded,
    error,
    unread,
    notices,
    deciding,
    acted,
    async load() {
      try {
        const [waiting, recent] = [await api.inbox("waiting"), await api.inbox()];
        put([...waiting.items, ...recent.items]);
        notices.value = waiting.notices ?? [];
        let next = waiting.next;
        while (next !== undefined) {
          const page = await api.inbox("waiting", next);
          put(page.items);
          next = page.next;
        }
        loaded.value = true;
        error.value = undefined;
      } catch (failure) {
        error.value = sentenceOf(failure);
      }
    },
    async readNotices() {
      try {
        notices.value = (await api.inbox("waiting")).notices ?? [];
      } catch {
        // Whoever reads the list says that it cannot be read.
      }
    },
    async fetchItem(id) {
      try {
        put([await api.item(id)]);
        unread.value = new Map([...unread.peek()].filter(([known]) => known !== id));
      } catch (failure) {
        const gone = failure instanceof ApiFailure && (failure.status === 404 || failure.status === 403);
        unread.value = new Map(unread.peek()).set(id, { gone, message: sentenceOf(failure) });
      }
    },
    receive: (item) => put([item]),
    async decide(item, decision) {
      const request = { ...decision, version: item.version };
      acted.value = new Set(acted.peek()).add(item.id);
      note(item.id, { phase: "sending", request });
      try {
        put([await api.decide(item.id, request)]);
        note(item.id, undefined);
      } catch (failure) {
        if (failure instanceof ApiFailure && failure.item) put([failure.item]);
        note(item.id, { phase: "refused", request, message: refusalOf(failure) });
      }
    },
    later: (item, until) => aside(item, () => api.later(item.id, until)),
    delegate: (item, userId) => aside(item, () => api.delegate(item.id, userId)),
    undo: (item) =>
      aside(item, async () => {
        await api.undo(item.id);
        return await api.item(item.id);
      }),
    async seen(item) {
      const key = `${item.id}/${item.version}`;
      if (item.state !== "waiting" || item.seenAt !== undefined || seen.has(key)) return;
      seen.add(key);
      // A receipt that is lost is only told again with the next look.
      await api.seen(item.id).catch(() => seen.delete(key));
    },
    leave() {
      acted.value = new Set();
    },
    clear() {
      acted.value = new Set();
      items.value = new Map();
      deciding.value = new Map();
      loaded.value = false;
      error.value = undefined;
      unread.value = new Map();
      notices.value = [];
    },
  };
}

/** Why a decision did not stand: who was faster, in the page's own words, else what the server says. */
function refusalOf(failure: unknown): string {
  const winner = failure instanceof ApiFailure ? failure.item?.decision : undefined;
  if (!winner) return sentenceOf(failure);
  const { decisions, decide } = strings;
  return decide.tooLate(decisions[winner.decision], decisions.by(winner.by, winner.surface));
}

/** Drops the oldest settled items. */
function pruned(items: ReadonlyMap<string, Item>): ReadonlyMap<string, Item> {
  const waiting = [...items.values()].filter((item) => item.state === "waiting");
  const kept = [...waiting, ...settledItems(items.values(), KEEP / 2)];
  return new Map(kept.map((item) => [item.id, item]));
}
