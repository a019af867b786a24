/**
 * What the rehearsal model reads in a tool's result, which to a real model is plain text: that a person changed the call, and that nobody knows how
 * it ended. It knows the words by which the conversation and the toolbox say so. Pure. Proved by `rehearsal_test.ts`, against those words.
 */

/** Who changed the call before allowing it, and what. */
export interface Edit {
  readonly by: string;
  readonly changes: string;
}

/** Takes the remark about an edit off the result's beginning. */
export function editOf(text: string): { readonly edit?: Edit; readonly text: string } {
  const [remark, by, changes] =
    /^\((.+?) changed the arguments of this call before allowing it, .*?Changed: (.*)\.\)\n\n/.exec(text) ??
      [];
  if (remark === undefined || by === undefined || changes === undefined) return { text };
  return { edit: { by, changes }, text: text.slice(remark.length) };
}

/** Whether the result says that the call may or may not have run. */
export function isUnknown(text: string): boolean {
  return /^(?:the )?outcome (?:is )?unknown\b|^the toolbox had to stop and killed this call\b|\bmay have run\b/i
    .test(text);
}
