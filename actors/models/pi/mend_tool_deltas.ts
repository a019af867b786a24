/**
 * Mends the tool-call fragments of chat completions from servers that count badly.
 *
 * Some servers send every call with `index: 0` and a new id; some give parallel calls the same id. Left as they are,
 * the fragments of two calls would be joined into one. The chunk is changed in place, before pi-ai reads it.
 * A server that counts well is not affected. Proved by `pi_stream_test.ts` (E5, E7).
 */

import * as z from "zod";

const ToolDelta = z.looseObject({
  index: z.int().optional(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish() }).nullish(),
});
const Chunk = z.looseObject({
  choices: z.tuple(
    [z.looseObject({ delta: z.looseObject({ tool_calls: z.array(z.unknown()) }) })],
    z.unknown(),
  ),
});

/** Makes the mender of one answer; call it with each chunk. */
export function createToolDeltaMender(): (chunk: unknown) => void {
  /** Which call a server's index means now: our index, and the id that the server gave. */
  const current = new Map<number, { readonly index: number; readonly id: string }>();
  const ids = new Set<string>();
  let next = 0;

  function mend(raw: object): void {
    const parsed = ToolDelta.safeParse(raw);
    if (!parsed.success || parsed.data.index === undefined) return;
    const { index, id, function: fn } = parsed.data;
    let call = current.get(index);
    if (call === undefined || (id && id !== call.id && fn?.name)) {
      call = { index: next++, id: id ?? "" };
      current.set(index, call);
      if (id && ids.has(id)) Object.assign(raw, { id: `${id}_${call.index}` });
      if (id) ids.add(id);
    } else if (id) {
      // The first fragment has named the call; a repeated id could lead to another one.
      Object.assign(raw, { id: undefined });
    }
    Object.assign(raw, { index: call.index });
  }

  return (chunk) => {
    if (!Chunk.safeParse(chunk).success) return;
    const { choices } = chunk as { choices: [{ delta: { tool_calls: unknown[] } }] }; // the very object, just checked
    for (const raw of choices[0].delta.tool_calls) {
      if (typeof raw === "object" && raw !== null) mend(raw);
    }
  };
}
