/**
 * Cuts a growing answer into Zulip messages.
 *
 * Two layers: the raw transcript, and decoration (markers, repaired fences) that is never part of it. Promises: the raw slices of all pieces concatenate
 * to the transcript; no body is longer than the budget, in code points; a code fence cut in two is closed and opened again with its language; a sealed
 * piece never changes when the transcript grows, so where it is cut does not depend on how the text arrived; a cut is at a line's end, else at a word's,
 * else between graphemes. Inline code is not tracked over a cut.
 * Pure: does not post, and does not know about live suffixes. Proved by `splitter_test.ts`.
 */

export interface SplitterOptions {
  /** Longest body in code points, at most 10000, where the server cuts without a word. @default 9500 */
  readonly budget?: number;
  /** Ends every piece but the last. */
  readonly seal?: string;
  /** Begins every piece but the first. */
  readonly continuation?: string;
}

export interface Piece {
  /** Its part of the transcript, untouched. */
  readonly raw: string;
  /** What to post: the part with its decoration. */
  readonly body: string;
  /** True for every piece but the last: it will not change any more. */
  readonly sealed: boolean;
  /** A fence is open at the end of `raw`. On the last piece it is left open; whoever appends something closes it with this line. */
  readonly openFence: string | null;
}

interface Fence {
  readonly marker: string;
  readonly language: string;
}

const DEFAULT_SEAL = "\n\n*(continued below)*";
const DEFAULT_CONTINUATION = "*(continued from above)*\n\n";
/** Longer runs of backticks are taken for text. */
const MAX_FENCE = 8;
const MAX_LANGUAGE = 32;
const MIN_SLICE = 64;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** A newline and a closing fence. */
const FENCE_RESERVE = 1 + MAX_FENCE;

/**
 * Splits a transcript. An empty transcript gives one empty piece.
 *
 * @throws {RangeError} when 'budget' is over 10000 or leaves no room for text beside the markers.
 */
export function splitTranscript(transcript: string, options: SplitterOptions = {}): Piece[] {
  const budget = options.budget ?? 9_500;
  const seal = options.seal ?? DEFAULT_SEAL;
  const continuation = options.continuation ?? DEFAULT_CONTINUATION;
  const least = length(continuation) + MAX_FENCE + MAX_LANGUAGE + 1 + FENCE_RESERVE + length(seal) +
    MIN_SLICE;
  if (!Number.isInteger(budget) || budget < least || budget > 10_000) {
    throw new RangeError(`'budget' must be an integer from ${least} to 10000, received ${budget}`);
  }

  const pieces: Piece[] = [];
  let start = 0;
  let prefix = "";
  let fence: Fence | null = null;
  while (exceeds(transcript, start, budget - length(prefix))) {
    const end = cutAt(transcript, start, budget - length(prefix) - length(seal) - FENCE_RESERVE);
    const raw = transcript.slice(start, end);
    fence = fenceAfter(raw, fence);
    const close = fence ? (raw.endsWith("\n") ? "" : "\n") + fence.marker : "";
    pieces.push({ raw, body: prefix + raw + close + seal, sealed: true, openFence: fence?.marker ?? null });
    prefix = continuation + (fence ? `${fence.marker}${fence.language}\n` : "");
    start = end;
  }
  const raw = transcript.slice(start);
  const open = fenceAfter(raw, fence);
  pieces.push({ raw, body: prefix + raw, sealed: false, openFence: open?.marker ?? null });
  return pieces;
}

function length(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Whether more than `limit` code points follow `start`. */
function exceeds(text: string, start: number, limit: number): boolean {
  return text.length - start > limit && advance(text, start, limit) < text.length;
}

/** The index `count` code points after `start`, or the end. */
function advance(text: string, start: number, count: number): number {
  let index = start;
  for (let n = 0; n < count && index < text.length; n++) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return index;
}

/**
 * After the last newline within `window` code points; without one after the last blank of the window's second half; without that between two of what a
 * reader takes for characters. The text goes on behind the window, so what is found does not change when more arrives.
 */
function cutAt(text: string, start: number, window: number): number {
  const end = advance(text, start, window);
  const newline = text.lastIndexOf("\n", end - 1);
  if (newline >= start) return newline + 1;
  const half = start + Math.floor((end - start) / 2);
  const blank = Math.max(text.lastIndexOf(" ", end - 1), text.lastIndexOf("\t", end - 1));
  return blank >= half ? blank + 1 : graphemeStart(text, start, end);
}

/** The beginning of the grapheme that `end` falls into, which is `end` itself between two of them; one that fills the whole window is cut. */
function graphemeStart(text: string, start: number, end: number): number {
  const known = text.slice(start, advance(text, end, FENCE_RESERVE));
  const at = graphemes.segment(known).containing(end - start)?.index ?? 0;
  return at > 0 ? start + at : end;
}

/** The fence that is open after `raw`, when `open` was before it. */
function fenceAfter(raw: string, open: Fence | null): Fence | null {
  let fence = open;
  for (const line of raw.split("\n")) {
    const text = line.trim();
    if (fence) {
      if (text === fence.marker) fence = null;
      continue;
    }
    const [, marker, rest] = /^(`{3,})([^`]*)$/.exec(text) ?? [];
    if (marker === undefined || rest === undefined || marker.length > MAX_FENCE) continue;
    fence = { marker, language: [...rest.trim()].slice(0, MAX_LANGUAGE).join("") };
  }
  return fence;
}
