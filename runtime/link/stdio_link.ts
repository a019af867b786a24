/**
 * The child's end of a link: reads the key, then frames, from stdin and writes frames to stdout. Used by a pure host's main isolate and by a
 * gateway's process. Promises that the process ends when stdin does, so that no child outlives its supervisor. Proven by `host_test.ts`.
 */
import { BadFrame, type Entry, FrameReader, FrameWriter, KEY_BYTES } from "./frames.ts";
import { EXIT_BAD_LINK } from "../supervise/judge_death.ts";
import { Outbox } from "./outbox.ts";

/** A child's connection to its supervisor. */
export interface StdioLink {
  send(slot: number, text: string): void;
  /** Resolves when everything sent was written. */
  flushed(): Promise<void>;
}

/** How a child writes. A pure host may block while nobody reads; a gateway may not, for it has deadlines of its own. */
export interface StdioOptions {
  readonly blocking: boolean;
  /** Runs before the process exits at the end of stdin. */
  readonly onEnd?: () => Promise<void>;
}

const READ_BYTES = 65_536;

/** Connects, calls `connected` once the key has arrived, and then what that returned for each entry, in order. */
export async function connectStdio(
  connected: (link: StdioLink) => (entry: Entry) => void,
  options: StdioOptions,
): Promise<void> {
  const key = await readKey();
  const write = options.blocking ? writeBlocking : writeAll;
  const outbox = new Outbox({ write }, new FrameWriter(key, "to_supervisor"), () => {
    // Nobody listens any more: stdin ends too, and a gateway still has to clean up.
    if (!options.onEnd) Deno.exit(0);
  });
  const frames = new FrameReader(key, "to_host", () => Deno.exit(EXIT_BAD_LINK));
  const onEntry = connected({
    send: (slot, text) => outbox.send(slot, text),
    flushed: () => outbox.flushed(),
  });
  const buffer = new Uint8Array(READ_BYTES);
  for (let count; (count = await Deno.stdin.read(buffer)) !== null;) {
    try {
      // The reader keeps what belongs to an unfinished frame.
      for (const entry of frames.push(buffer.slice(0, count))) onEntry(entry);
    } catch (error) {
      if (error instanceof BadFrame) Deno.exit(EXIT_BAD_LINK);
      throw error;
    }
  }
  await options.onEnd?.();
  Deno.exit(0);
}

async function readKey(): Promise<Uint8Array> {
  const key = new Uint8Array(KEY_BYTES);
  for (let at = 0; at < KEY_BYTES;) {
    const count = await Deno.stdin.read(key.subarray(at));
    if (count === null) Deno.exit(0);
    at += count;
  }
  return key;
}

function writeBlocking(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  return Promise.resolve();
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
