/**
 * The supervisor's end of a link: starts a Deno process, meets it at a socket, and turns what comes over that into entries. Promises that
 * `onExit` comes once, after everything the process had written was read; that what it prints only reaches the log; that a bad frame kills
 * the process. It does not know what entries mean. Proven by `host_test.ts`.
 */
import { BadFrame, type Entry, FrameReader, FrameWriter } from "./frames.ts";
import type { ProcessEnd } from "../supervise/judge_death.ts";
import { Meeting, writeAll } from "./meeting.ts";
import { Outbox } from "./outbox.ts";

/** A process to start: the running Deno executable's flags for it, its module, and its whole environment. */
export interface ProcessSpec {
  readonly flags: readonly string[];
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What the process's owner is told. */
export interface LinkEvents {
  onEntry(entry: Entry): void;
  /** A line that it printed. */
  onNoise(line: string): void;
  onExit(end: ProcessEnd): void;
}

/** A running process. */
export interface ProcessLink {
  readonly pid: number;
  send(slot: number, text: string): void;
  /** Ends the link once what was sent is written: the process ends by itself. */
  close(): void;
  /** SIGKILL. */
  kill(): void;
  /** Resolves after `onExit`. */
  readonly ended: Promise<void>;
}

/** How a process is started; tests and the simulation have their own. */
export type OpenLink = (spec: ProcessSpec, events: LinkEvents) => ProcessLink;

/** How long output may come after a process's end, for example from a grandchild that keeps its pipe. */
const LINGER_MS = 250;
const READ_BYTES = 65_536;

/** Starts the process. Throws when the executable cannot be run or the socket not be made. */
export const openProcessLink: OpenLink = (spec, events) => {
  const meeting = new Meeting();
  let child: Deno.ChildProcess;
  try {
    child = startChild(spec, meeting.path);
  } catch (error) {
    meeting.end();
    throw error;
  }
  const stdin = child.stdin.getWriter();
  stdin.write(meeting.secrets).then(() => stdin.close()).catch(() => {}); // its end is told by onExit
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  };

  const connecting = meeting.connection();
  const write = async (bytes: Uint8Array) => {
    const connection = await connecting;
    if (connection) await writeAll(connection, bytes);
  };
  const outbox = new Outbox({ write }, new FrameWriter(meeting.key, "to_host"), () => {}); // as above
  let badFrame = false;
  const reading = (async () => {
    const connection = await connecting;
    if (!connection) return;
    try {
      await readFrames(connection, new FrameReader(meeting.key, "to_supervisor"), events.onEntry);
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error;
      badFrame = true;
      events.onNoise(error.message);
      kill();
    }
  })();
  const stdout = pump(child.stdout, new Lines(events.onNoise));
  const stderr = pump(child.stderr, new Lines(events.onNoise));

  const ended = (async () => {
    const { code, signal } = await child.status;
    meeting.end();
    await Promise.all([reading, stdout.finish(), stderr.finish()]);
    (await connecting)?.close();
    events.onExit({ code, signal, badFrame });
  })();
  const close = async () => {
    await outbox.flushed();
    await (await connecting)?.closeWrite();
  };
  return {
    pid: child.pid,
    send: (slot, text) => outbox.send(slot, text),
    close: () => void close().catch(() => {}), // as above
    kill,
    ended,
  };
};

/** Its own rights, and the one to connect to the link: for a Unix socket Deno wants three. */
function startChild({ flags, entry, env }: ProcessSpec, link: string): Deno.ChildProcess {
  const mayConnect = [`--allow-read=${link}`, `--allow-write=${link}`, `--allow-net=unix:${link}`];
  return new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, ...mayConnect, entry, link],
    env: { ...env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Reads until the other end is closed or gone. Rejects with `BadFrame`. */
async function readFrames(
  connection: Deno.UnixConn,
  frames: FrameReader,
  onEntry: (entry: Entry) => void,
): Promise<void> {
  const buffer = new Uint8Array(READ_BYTES);
  for (;;) {
    // One whose other end was killed may fail instead of ending.
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return;
    for (const entry of frames.push(buffer.subarray(0, count))) onEntry(entry);
  }
}

interface Pump {
  /** Resolves at the stream's end, or a moment later when somebody else keeps it open. */
  finish(): Promise<void>;
}

/** What a process prints is for the log. */
function pump(stream: ReadableStream<Uint8Array>, lines: Lines): Pump {
  const reader = stream.getReader();
  const done = (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return lines.flush();
      lines.push(value);
    }
  })();
  return {
    async finish() {
      const timer = setTimeout(() => void reader.cancel(), LINGER_MS);
      await done;
      clearTimeout(timer);
    },
  };
}

const MAX_LINE = 2_000;

/** Cuts bytes into log lines. */
class Lines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(bytes: Uint8Array): void {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") this.#onLine(line.slice(0, MAX_LINE));
    if (this.#rest.length > MAX_LINE) this.flush();
  }

  flush(): void {
    if (this.#rest !== "") this.#onLine(this.#rest.slice(0, MAX_LINE));
    this.#rest = "";
  }
}
