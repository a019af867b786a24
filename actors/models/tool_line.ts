/**
 * The convention `tool:NAME {json}`: a line of user text that makes a scripted model call exactly that tool.
 *
 * Pure. Used by the rehearsal model and by the fake model server of the tests, so that demos and end-to-end tests can
 * steer either without a script of their own. Proved by `rehearsal_test.ts`.
 */

export interface ToolLine {
  readonly name: string;
  /** As written; may be no JSON, on purpose. */
  readonly arguments: string;
}

/** Finds the tool lines in a text, in order. */
export function readToolLines(text: string): ToolLine[] {
  return text.split("\n").flatMap((line) => {
    const found = /^\s*tool:([A-Za-z0-9_.:-]+)\s*(.*?)\s*$/.exec(line);
    return found?.[1] === undefined ? [] : [{ name: found[1], arguments: found[2] || "{}" }];
  });
}
