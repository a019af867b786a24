/**
 * Frames on a link that strangers may get at. A frame is `magic, length, sequence, MAC, body`; its body is a list of entries, each a slot number and
 * a text, so that many small messages share one HMAC. Promises: an entry is handed out only when its frame's sequence and MAC are right;
 * anything else is a `BadFrame`, after which the link must not be read any more. It knows neither processes nor what entries mean. Proven by
 * `frames_test.ts`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** A text for one slot of the other side. Slot 0 is the process itself. */
export interface Entry {
  readonly slot: number;
  readonly text: string;
}

/** Which way a stream runs; part of the MAC, so that a frame cannot be played back to its writer. */
export type Direction = "to_host" | "to_supervisor";

/** Length of the key that both sides share, in bytes. */
export const KEY_BYTES = 32;

/** Shows at once that bytes are missing; a length that is none of one would be waited for. */
const MAGIC = 0xca11b0a2;
const MAC_BYTES = 16;
const HEADER_BYTES = 12 + MAC_BYTES;
const MAX_BODY_BYTES = 64 << 20;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes that are no frame of the other side: somebody else wrote into the link, or took something out of it. */
export class BadFrame extends Error {
  override readonly name = "BadFrame";
}

function macOf(key: Uint8Array, direction: Direction, head: Uint8Array, body: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(direction).update(head).update(body).digest().subarray(
    0,
    MAC_BYTES,
  );
}

/** Builds the frames of one direction. */
export class FrameWriter {
  readonly #key: Uint8Array;
  readonly #direction: Direction;
  #sequence = 0;

  constructor(key: Uint8Array, direction: Direction) {
    this.#key = key;
    this.#direction = direction;
  }

  /** One frame with all entries. */
  frame(entries: readonly Entry[]): Uint8Array {
    const texts = entries.map((entry) => encoder.encode(entry.text));
    const bodyBytes = texts.reduce((sum, text) => sum + 8 + text.length, 0);
    if (bodyBytes > MAX_BODY_BYTES) {
      throw new RangeError(`'entries' must be at most ${MAX_BODY_BYTES} bytes, received ${bodyBytes}`);
    }
    const frame = new Uint8Array(HEADER_BYTES + bodyBytes);
    const view = viewOf(frame);
    view.setUint32(0, MAGIC);
    view.setUint32(4, bodyBytes);
    view.setUint32(8, this.#sequence++);
    let at = HEADER_BYTES;
    for (const [index, text] of texts.entries()) {
      view.setUint32(at, entries[index]?.slot ?? 0);
      view.setUint32(at + 4, text.length);
      frame.set(text, at + 8);
      at += 8 + text.length;
    }
    frame.set(macOf(this.#key, this.#direction, frame.subarray(4, 12), frame.subarray(HEADER_BYTES)), 12);
    return frame;
  }
}

/** Takes a stream of one direction apart. */
export class FrameReader {
  readonly #key: Uint8Array;
  readonly #direction: Direction;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #wanted = 0;
  #sequence = 0;

  constructor(key: Uint8Array, direction: Direction) {
    this.#key = key;
    this.#direction = direction;
  }

  /** The entries that `chunk` completes; it may be written over afterwards. Throws `BadFrame`. */
  push(chunk: Uint8Array): Entry[] {
    const entries: Entry[] = [];
    if (this.#pendingBytes + chunk.length < this.#wanted) {
      this.#keep(chunk);
      return entries;
    }
    let bytes = this.#joined(chunk);
    for (let frame; (frame = this.#first(bytes)); bytes = bytes.subarray(frame.length)) {
      this.#open(frame, entries);
    }
    if (bytes.length > 0) this.#keep(bytes);
    return entries;
  }

  /** A copy: what is read comes in one buffer again and again. */
  #keep(bytes: Uint8Array): void {
    this.#pending.push(bytes.slice());
    this.#pendingBytes += bytes.length;
  }

  /** Everything that is kept, and `chunk`; nothing is kept any more. */
  #joined(chunk: Uint8Array): Uint8Array {
    if (this.#pendingBytes === 0) return chunk;
    const joined = new Uint8Array(this.#pendingBytes + chunk.length);
    let at = 0;
    for (const part of [...this.#pending, chunk]) {
      joined.set(part, at);
      at += part.length;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    return joined;
  }

  /** The frame that `bytes` begin with, once it is whole. */
  #first(bytes: Uint8Array): Uint8Array | undefined {
    this.#wanted = HEADER_BYTES;
    if (bytes.length < HEADER_BYTES) return undefined;
    const view = viewOf(bytes);
    if (view.getUint32(0) !== MAGIC) throw new BadFrame("bytes on the link are no frame");
    const bodyBytes = view.getUint32(4);
    if (bodyBytes > MAX_BODY_BYTES) throw new BadFrame(`a frame claims ${bodyBytes} bytes`);
    this.#wanted = HEADER_BYTES + bodyBytes;
    return bytes.length < this.#wanted ? undefined : bytes.subarray(0, this.#wanted);
  }

  #open(frame: Uint8Array, entries: Entry[]): void {
    const view = viewOf(frame);
    const mac = macOf(this.#key, this.#direction, frame.subarray(4, 12), frame.subarray(HEADER_BYTES));
    if (!timingSafeEqual(mac, frame.subarray(12, HEADER_BYTES))) {
      throw new BadFrame("a frame has a wrong MAC");
    }
    if (view.getUint32(8) !== this.#sequence % 2 ** 32) throw new BadFrame("a frame is out of sequence");
    this.#sequence++;
    for (let at = HEADER_BYTES; at < frame.length;) {
      const until = at + 8 + view.getUint32(at + 4);
      entries.push({ slot: view.getUint32(at), text: decoder.decode(frame.subarray(at + 8, until)) });
      at = until;
    }
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
