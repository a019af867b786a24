/**
 * The decisions log as read so far, and the server's word on whether its chain holds. The newest entries come first; older ones are read page by page on
 * demand, and reading again only fetches what was added. Proven by `policy_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { AuditVerdict, ShownEntry } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";

/** The log. */
export interface AuditStore {
  /** Newest first, without a gap. */
  readonly entries: ReadonlySignal<readonly ShownEntry[]>;
  readonly loaded: ReadonlySignal<boolean>;
  /** There are older entries that were not read. */
  readonly hasOlder: ReadonlySignal<boolean>;
  readonly isReading: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  /** `checking` while the server recomputes the chain. */
  readonly verdict: ReadonlySignal<AuditVerdict | "checking" | undefined>;
  /** Reads the newest entries, or those that were added since. */
  load(): Promise<void>;
  /** Reads the page before the oldest known entry. */
  loadOlder(): Promise<void>;
  verify(): Promise<void>;
  clear(): void;
}

/** The entries of which some field holds every word of `search`, in their order. */
export function filterAudit(
  entries: readonly ShownEntry[],
  { search, surface }: { readonly search: string; readonly surface: string },
): ShownEntry[] {
  const words = search.toLocaleLowerCase().split(/\s+/).filter((word) => word !== "");
  return entries.filter((entry) => {
    if (surface !== "" && entry.surface !== surface) return false;
    const text = [
      entry.seq,
      entry.kind,
      entry.actor,
      entry.surface,
      entry.device,
      entry.decision,
      entry.digest,
      entry.conversation,
      entry.itemId,
      JSON.stringify(entry.body),
      ...Object.values(entry.shown ?? {}),
    ].join(" ").toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Builds the store. */
export function createAudit(api: Api): AuditStore {
  const entries = signal<readonly ShownEntry[]>([]);
  const loaded = signal(false);
  const hasOlder = signal(false);
  const isReading = signal(false);
  const error = signal<string | undefined>(undefined);
  const verdict = signal<AuditVerdict | "checking" | undefined>(undefined);

  /** One reading at a time, so that no page is put in twice. */
  async function read(pages: () => Promise<void>): Promise<void> {
    if (isReading.peek()) return;
    isReading.value = true;
    try {
      await pages();
      loaded.value = true;
      error.value = undefined;
    } catch (failure) {
      error.value = sentenceOf(failure);
    } finally {
      isReading.value = false;
    }
  }

  /** What was added after `known`, newest first: shown only when all of it is there, so that there is no gap. */
  async function added(known: number): Promise<ShownEntry[]> {
    const found: ShownEntry[] = [];
    let before: number | undefined;
    do {
      const page = await api.audit({ after: known, ...(before === undefined ? {} : { before }) });
      found.push(...page.entries);
      before = page.next;
    } while (before !== undefined);
    return found;
  }

  return {
    entries,
    loaded,
    hasOlder,
    isReading,
    error,
    verdict,
    load: () =>
      read(async () => {
        const newest = entries.peek()[0]?.seq;
        if (newest === undefined) {
          const page = await api.audit({});
          entries.value = page.entries;
          hasOlder.value = page.next !== undefined;
          return;
        }
        const more = await added(newest);
        if (more.length > 0) entries.value = [...more, ...entries.peek()];
      }),
    loadOlder: () =>
      read(async () => {
        const before = entries.peek().at(-1)?.seq;
        const page = await api.audit(before === undefined ? {} : { before });
        entries.value = [...entries.peek(), ...page.entries];
        hasOlder.value = page.next !== undefined;
      }),
    async verify() {
      verdict.value = "checking";
      try {
        verdict.value = await api.verify();
        error.value = undefined;
      } catch (failure) {
        verdict.value = undefined;
        error.value = sentenceOf(failure);
      }
    },
    clear() {
      entries.value = [];
      loaded.value = false;
      hasOlder.value = false;
      error.value = undefined;
      verdict.value = undefined;
    },
  };
}
