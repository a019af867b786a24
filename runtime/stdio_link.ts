/**
 * The child's end of a link: reads the key, then frames, from stdin and writes frames to stdout. Used by a pure host's main isolate and by a
 * gateway's process. Promises that the process ends when stdin does, so that no child outlives its supervisor. Proven by `host_test.ts`.
 */
import { BadFrame, type Entry, FrameReader, FrameWriter, KEY_BYTES } from "./frames.ts";
import { Outbox } from "./outbox.ts";

/** A child's connection to its supervisor. */
export interface StdioLink {
  send(slot: number, text: string): void;
  /** Resolves when everything sent was written. */
  flushed(): Promise<void>;
}

/** Exit code of a child whose stdin carried something that is no frame of its supervisor. */
const EXIT_BAD_LINK = 76;

/**
 * Connects, calls `connected` once the key has arrived, and then `onEntry` for each entry, in order. `onEnd` runs before the process exits
 * at the end of stdin.
 */
export async function connectStdio(
  connected: (link: StdioLink) => (entry: Entry) => void,
  onEnd: () => void = () => {},
): Promise<void> {
  const input = Deno.stdin.readable.getReader();
  const { key, rest } = await readKey(input);
  const outbox = new Outbox({ write: writeAll }, new FrameWriter(key, "to_supervisor"), () => Deno.exit(0));
  const frames = new FrameReader(key, "to_host", () => Deno.exit(EXIT_BAD_LINK));
  const onEntry = connected({
    send: (slot, text) => outbox.send(slot, text),
    flushed: () => outbox.flushed(),
  });
  let chunk: Uint8Array | undefined = rest;
  while (chunk !== undefined) {
    try {
      for (const entry of frames.push(chunk)) onEntry(entry);
    } catch (error) {
      if (error instanceof BadFrame) Deno.exit(EXIT_BAD_LINK);
      throw error;
    }
    chunk = (await input.read()).value;
  }
  onEnd();
  Deno.exit(0);
}

async function readKey(
  input: ReadableStreamDefaultReader<Uint8Array>,
): Promise<{ key: Uint8Array; rest: Uint8Array }> {
  let bytes: Uint8Array = new Uint8Array(0);
  while (bytes.length < KEY_BYTES) {
    const { value, done } = await input.read();
    if (done) Deno.exit(0);
    const joined = new Uint8Array(bytes.length + value.length);
    joined.set(bytes);
    joined.set(value, bytes.length);
    bytes = joined;
  }
  return { key: bytes.slice(0, KEY_BYTES), rest: bytes.slice(KEY_BYTES) };
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
