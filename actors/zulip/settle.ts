/**
 * Finding a post of ours in history: by the hash of its body, in order, passing over messages that other posts already own. Pure.
 * Proven by `intake_test.ts`.
 */

/** The id of the oldest of our messages with this body that no other post has claimed, or null. */
export function findOwn(
  messages: readonly { readonly id: number; readonly hash: string }[],
  wanted: { readonly hash: string; readonly taken: ReadonlySet<number> },
): number | null {
  const ordered = [...messages].sort((a, b) => a.id - b.id);
  return ordered.find((message) => message.hash === wanted.hash && !wanted.taken.has(message.id))?.id ?? null;
}
