/**
 * Ids of tool calls that every provider accepts.
 *
 * Providers disagree: one writes 450 characters with a `|`, another wants at most 40 of `[A-Za-z0-9_-]`, local servers
 * count `call_0` anew in each answer. Pure, deterministic. Proved by `pi_messages_test.ts`.
 */

const MAX_CHARS = 40;

/** Returns an id made from `raw` that is acceptable everywhere and not in `taken`, and adds it to `taken`. */
export function claimCallId(raw: string, taken: Set<string>): string {
  const base = raw.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_CHARS) || "call";
  let id = base;
  for (let copy = 2; taken.has(id); copy++) {
    const suffix = `_${copy}`;
    id = base.slice(0, MAX_CHARS - suffix.length) + suffix;
  }
  taken.add(id);
  return id;
}
