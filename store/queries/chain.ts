/** Verifies the whole decisions chain, page by page, so that its length does not matter. Proven by `store/decide_test.ts`. */
import { type Entry, follow, genesis } from "../../lib/decision_chain.ts";
import type { Db } from "../db.ts";
import { type DecisionRow, listDecisions } from "./audit.ts";

/** `brokenAt` is the `seq` of the first entry that does not follow from what stands before it. */
export interface ChainVerdict {
  readonly ok: boolean;
  readonly entries: number;
  readonly brokenAt?: number;
}

/** Follows the chain from its beginning. Rejects with `DbError`. */
export async function verifyChain(db: Db, pageSize = 500): Promise<ChainVerdict> {
  let head = genesis;
  for (;;) {
    const rows = await listDecisions(db, head.seq, pageSize);
    const result = follow(head, rows.map(toEntry));
    if (result.brokenAt !== undefined) {
      return { ok: false, entries: result.head.seq, brokenAt: result.brokenAt };
    }
    head = result.head;
    if (rows.length < pageSize) return { ok: true, entries: head.seq };
  }
}

/** A row in the words that were hashed. */
export function toEntry(row: DecisionRow): Entry {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    itemId: row.item_id,
    callId: row.call_id,
    conversation: row.conversation,
    actor: row.actor,
    surface: row.surface,
    device: row.device,
    decision: row.decision,
    digest: row.digest,
    body: row.body,
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}
