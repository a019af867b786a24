/**
 * Frames on a byte stream that strangers may write to. A frame is `magic, length, sequence, MAC, body`; its body is a list of entries, each
 * a slot number and a text, so that many small messages share one HMAC. Promises: an entry is handed out only when its frame's sequence and
 * MAC are right; bytes that are no frame are handed out as noise; a frame that begins rightly and ends wrongly is a `BadFrame`, after which
 * the stream must not be read any more. It knows neither processes nor what entries mean. Proven by `frames_test.ts`.
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

const MAGIC = new Uint8Array([0xca, 0x11, 0xb0, 0xa2]);
const MAC_BYTES = 16;
const HEADER_BYTES = 12 + MAC_BYTES;
const MAX_BODY_BYTES = 64 << 20;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A frame whose sequence, MAC or body is wrong: somebody else wrote into the stream. */
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
    const view = new DataView(frame.buffer);
    frame.set(MAGIC);
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
  readonly #onNoise: (bytes: Uint8Array) => void;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #wanted = 0;
  #sequence = 0;

  constructor(key: Uint8Array, direction: Direction, onNoise: (bytes: Uint8Array) => void) {
    this.#key = key;
    this.#direction = direction;
    this.#onNoise = onNoise;
  }

  /** The entries that `chunk` completes. Throws `BadFrame`. */
  push(chunk: Uint8Array): Entry[] {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes < this.#wanted) return [];
    let bytes = this.#joined();
    const entries: Entry[] = [];
    for (;;) {
      bytes = this.#skipNoise(bytes);
      if (bytes.length < HEADER_BYTES) {
        this.#wanted = 0;
        break;
      }
      const bodyBytes = viewOf(bytes).getUint32(4);
      if (bodyBytes > MAX_BODY_BYTES) throw new BadFrame(`a frame claims ${bodyBytes} bytes`);
      const frameBytes = HEADER_BYTES + bodyBytes;
      if (bytes.length < frameBytes) {
        this.#wanted = frameBytes;
        break;
      }
      this.#open(bytes.subarray(0, frameBytes), entries);
      bytes = bytes.subarray(frameBytes);
    }
    this.#pending = bytes.length > 0 ? [bytes] : [];
    this.#pendingBytes = bytes.length;
    return entries;
  }

  #joined(): Uint8Array {
    const [only] = this.#pending;
    if (this.#pending.length === 1 && only) return only;
    const joined = new Uint8Array(this.#pendingBytes);
    let at = 0;
    for (const part of this.#pending) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** Drops what is not the beginning of a frame. */
  #skipNoise(bytes: Uint8Array): Uint8Array {
    let at = 0;
    while (at < bytes.length && !startsFrame(bytes, at)) at++;
    if (at > 0) this.#onNoise(bytes.subarray(0, at));
    return bytes.subarray(at);
  }

  #open(frame: Uint8Array, entries: Entry[]): void {
    const view = viewOf(frame);
    const body = frame.subarray(HEADER_BYTES);
    const mac = macOf(this.#key, this.#direction, frame.subarray(4, 12), body);
    if (!timingSafeEqual(mac, frame.subarray(12, HEADER_BYTES))) {
      throw new BadFrame("a frame has a wrong MAC");
    }
    if (view.getUint32(8) !== this.#sequence % 2 ** 32) throw new BadFrame("a frame is out of sequence");
    this.#sequence++;
    for (let at = HEADER_BYTES; at < frame.length;) {
      const slot = view.getUint32(at);
      const until = at + 8 + view.getUint32(at + 4);
      entries.push({ slot, text: decoder.decode(frame.subarray(at + 8, until)) });
      at = until;
    }
  }
}

/** Whether the bytes at `at` are, as far as they are there, the magic of a frame. */
function startsFrame(bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < MAGIC.length && at + index < bytes.length; index++) {
    if (bytes[at + index] !== MAGIC[index]) return false;
  }
  return true;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
