/**
 * The child's end of a link: meets its supervisor and exchanges frames with it. Used by a pure host's main isolate and by a gateway's process.
 * Promises that the process ends when the link does, so that no child outlives its supervisor. Proven by `host_test.ts`.
 */
import { BadFrame, type Entry, FrameReader, FrameWriter } from "./frames.ts";
import { EXIT_BAD_LINK } from "../supervise/judge_death.ts";
import { meet, writeAll } from "./meeting.ts";
import { Outbox } from "./outbox.ts";

/** A child's connection to its supervisor. */
export interface ChildLink {
  send(slot: number, text: string): void;
  /** Resolves when everything sent was written. */
  flushed(): Promise<void>;
}

const READ_BYTES = 65_536;

/**
 * Connects, calls `connected`, and then what that returned for each entry, in order. `onEnd` runs before the process exits at the end of the
 * link. The socket's path is the process's first argument.
 */
export async function connectToSupervisor(
  connected: (link: ChildLink) => (entry: Entry) => void,
  onEnd?: () => Promise<void>,
): Promise<void> {
  const [path = ""] = Deno.args;
  const { connection, key } = await meet(path).catch(() => Deno.exit(EXIT_BAD_LINK));
  const outbox = new Outbox(
    { write: (bytes) => writeAll(connection, bytes) },
    new FrameWriter(key, "to_supervisor"),
    () => {
      // Nobody listens any more: reading ends too, and a gateway still has to clean up.
      if (!onEnd) Deno.exit(0);
    },
  );
  const frames = new FrameReader(key, "to_host");
  const onEntry = connected({
    send: (slot, text) => outbox.send(slot, text),
    flushed: () => outbox.flushed(),
  });
  const buffer = new Uint8Array(READ_BYTES);
  // A connection whose other end was killed may fail instead of ending.
  for (let count; (count = await connection.read(buffer).catch(() => null)) !== null;) {
    try {
      for (const entry of frames.push(buffer.subarray(0, count))) onEntry(entry);
    } catch (error) {
      if (error instanceof BadFrame) Deno.exit(EXIT_BAD_LINK);
      throw error;
    }
  }
  await onEnd?.();
  Deno.exit(0);
}
