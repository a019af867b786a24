/**
 * The hash chain of the decisions log: every entry seals itself and all before it. The hash is SHA-256 over the RFC 8785 form of the entry
 * with its predecessor's hash. It does not know what was decided. Proven by `decision_chain_test.ts`.
 */
import { digestOf } from "./digest.ts";

/** What an entry says. `body` is canonical JSON text, so that what was hashed is what is stored. Absent facts are null. */
export interface EntryFacts {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `decision`, `expiry`, `refusal` or `policy`. */
  readonly kind: string;
  readonly itemId: string | null;
  readonly callId: string | null;
  readonly conversation: string | null;
  /** Who: a user's id, `zulip:<id>`, or `system`. */
  readonly actor: string;
  readonly surface: string;
  readonly device: string | null;
  readonly decision: string;
  readonly digest: string | null;
  readonly body: string;
}

/** A sealed entry. `seq` counts from 1 without holes. */
export interface Entry extends EntryFacts {
  readonly seq: number;
  readonly prevHash: string;
  readonly hash: string;
}

/** The end of a chain, to which the next entry is sealed. */
export type Head = Pick<Entry, "seq" | "hash">;

/** What the first entry is sealed to. */
export const genesis: Head = { seq: 0, hash: "0".repeat(64) };

/** Seals the next entry. */
export function seal(head: Head, facts: EntryFacts): Entry {
  const entry = { ...pick(facts), seq: head.seq + 1, prevHash: head.hash };
  return { ...entry, hash: digestOf(entry) };
}

/** Follows the chain from `head`; gives its new end, or the first entry that does not follow. */
export function follow(head: Head, entries: readonly Entry[]): { head: Head; brokenAt?: number } {
  let end = head;
  for (const entry of entries) {
    const expected = seal(end, entry);
    if (entry.seq !== expected.seq || entry.prevHash !== end.hash || entry.hash !== expected.hash) {
      return { head: end, brokenAt: entry.seq };
    }
    end = entry;
  }
  return { head: { seq: end.seq, hash: end.hash } };
}

function pick(facts: EntryFacts): EntryFacts {
  const { at, kind, itemId, callId, conversation, actor, surface, device, decision, digest, body } = facts;
  return { at, kind, itemId, callId, conversation, actor, surface, device, decision, digest, body };
}
