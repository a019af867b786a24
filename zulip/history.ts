/**
 * Messages after a mark, from several narrows, as one ascending sequence of pages without duplicates.
 *
 * A Zulip queue replays nothing that happened before it was registered, so after a lost queue the gap is read from history. Promises: pages come in
 * ascending message id over all narrows together, each id once; reading ends when every narrow has reached the newest message. Reads one page ahead
 * per narrow, so memory is bounded by narrows × page size. Errors of the client pass through. Proved by `event_loop_test.ts`.
 */
import type { Narrow, ZulipClient } from "./client.ts";
import type { Message } from "./wire/messages.ts";

export interface HistoryAfterOptions {
  /** Newest message id already accounted for. */
  readonly mark: number;
  /** What to read, such as one narrow per served channel and `is:mentioned`; `[[]]` is everything. */
  readonly narrows: readonly Narrow[];
  /** Messages per call, at most 5000. @default 200 */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

interface Source {
  readonly narrow: Narrow;
  readonly buffer: Message[];
  anchor: number;
  ended: boolean;
}

/** Yields pages of at least one message, oldest first. */
export async function* messagesAfter(
  client: Pick<ZulipClient, "getMessages">,
  options: HistoryAfterOptions,
): AsyncGenerator<Message[]> {
  const sources: Source[] = options.narrows.map((narrow) => ({
    narrow,
    buffer: [],
    anchor: options.mark,
    ended: false,
  }));
  let last = options.mark;
  while (true) {
    for (const source of sources) {
      while (source.buffer.length === 0 && !source.ended) await readPage(client, source, options);
    }
    // Up to the smallest id that a source has still unread pages behind, the merged order is final.
    const bound = Math.min(
      ...sources.filter((s) => !s.ended).map((s) => s.buffer.at(-1)?.id ?? Infinity),
      Infinity,
    );
    const ready = sources.flatMap((source) => source.buffer.splice(0, countUpTo(source.buffer, bound)));
    if (ready.length === 0) return;
    const page: Message[] = [];
    for (const message of ready.sort((a, b) => a.id - b.id)) {
      if (message.id > last) page.push(message);
      last = Math.max(last, message.id);
    }
    if (page.length > 0) yield page;
  }
}

async function readPage(
  client: Pick<ZulipClient, "getMessages">,
  source: Source,
  options: HistoryAfterOptions,
): Promise<void> {
  const page = await client.getMessages({
    anchor: source.anchor,
    includeAnchor: false,
    numBefore: 0,
    numAfter: options.pageSize ?? 200,
    narrow: source.narrow,
  }, options.signal);
  source.buffer.push(...page.messages);
  source.anchor = Math.max(source.anchor, ...page.messages.map((m) => m.id));
  source.ended = page.foundNewest || page.messages.length === 0;
}

function countUpTo(buffer: readonly Message[], bound: number): number {
  const index = buffer.findIndex((message) => message.id > bound);
  return index === -1 ? buffer.length : index;
}
