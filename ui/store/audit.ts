/**
 * The decisions log as read so far, and the server's word on whether its chain holds. The log is read from its beginning, page by page, so that the
 * newest entry is known; reading again only fetches what was added. Proven by `policy_test.ts`.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { AuditEntry, AuditVerdict } from "../../edge/api.ts";
import { type Api, sentenceOf } from "../api.ts";

/** Pages read at once; a longer log is for the export. */
const MAX_PAGES = 20;

/** The log. */
export interface AuditStore {
  /** Oldest first. */
  readonly entries: ReadonlySignal<readonly AuditEntry[]>;
  readonly loaded: ReadonlySignal<boolean>;
  /** The log goes on behind what was read. */
  readonly isCut: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<string | undefined>;
  /** `checking` while the server recomputes the chain. */
  readonly verdict: ReadonlySignal<AuditVerdict | "checking" | undefined>;
  load(): Promise<void>;
  verify(): Promise<void>;
  clear(): void;
}

/** The entries of which some field holds every word of `search`, the latest first. */
export function filterAudit(
  entries: readonly AuditEntry[],
  { search, surface }: { readonly search: string; readonly surface: string },
): AuditEntry[] {
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
    ].join(" ").toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  }).reverse();
}

/** Builds the store. */
export function createAudit(api: Api): AuditStore {
  const entries = signal<readonly AuditEntry[]>([]);
  const loaded = signal(false);
  const isCut = signal(false);
  const error = signal<string | undefined>(undefined);
  const verdict = signal<AuditVerdict | "checking" | undefined>(undefined);
  let isReading = false;

  return {
    entries,
    loaded,
    isCut,
    error,
    verdict,
    async load() {
      if (isReading) return;
      isReading = true;
      try {
        let after: number | undefined = entries.peek().at(-1)?.seq ?? 0;
        for (let page = 0; page < MAX_PAGES && after !== undefined; page += 1) {
          const { entries: more, next } = await api.audit(after);
          if (more.length > 0) entries.value = [...entries.peek(), ...more];
          after = next;
        }
        isCut.value = after !== undefined;
        loaded.value = true;
        error.value = undefined;
      } catch (failure) {
        error.value = sentenceOf(failure);
      } finally {
        isReading = false;
      }
    },
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
      isCut.value = false;
      error.value = undefined;
      verdict.value = undefined;
    },
  };
}
