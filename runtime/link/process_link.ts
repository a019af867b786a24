/**
 * The supervisor's end of a link: starts a Deno process, gives it a fresh key, and turns its stdio into entries. Promises that `onExit` comes
 * once, after everything the process had written was read; that foreign bytes only reach the log; that a bad frame kills the process.
 * It does not know what entries mean. Proven by `host_test.ts`.
 */
import { BadFrame, type Entry, FrameReader, FrameWriter, KEY_BYTES } from "./frames.ts";
import type { ProcessEnd } from "../supervise/judge_death.ts";
import { Outbox } from "./outbox.ts";

/** A process to start: arguments of the running Deno executable, and its whole environment. */
export interface ProcessSpec {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the process's owner is told. */
export interface LinkEvents {
  onEntry(entry: Entry): void;
  /** A line that was no frame, from stdout or stderr. */
  onNoise(line: string): void;
  onExit(end: ProcessEnd): void;
}

/** A running process. */
export interface ProcessLink {
  readonly pid: number;
  send(slot: number, text: string): void;
  /** Closes stdin once what was sent is written: the process ends by itself. */
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

/** Starts the process. Throws when the executable cannot be run. */
export const openProcessLink: OpenLink = (spec, events) => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...spec.args],
    env: { ...spec.env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const stdin = child.stdin.getWriter();
  const outbox = new Outbox(stdin, new FrameWriter(key, "to_host"), () => {});
  stdin.write(key).catch(() => {}); // its end is told by onExit
  let badFrame = false;
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  const noise = new Lines(events.onNoise);
  const frames = new FrameReader(key, "to_supervisor", (bytes) => noise.push(bytes));
  const stdout = pump(child.stdout, (chunk) => {
    if (badFrame) return;
    try {
      for (const entry of frames.push(chunk)) events.onEntry(entry);
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error;
      badFrame = true;
      events.onNoise(error.message);
      kill();
    }
  });
  const errors = new Lines(events.onNoise);
  const stderr = pump(child.stderr, (chunk) => errors.push(chunk));
  const ended = (async () => {
    const { code, signal } = await child.status;
    await Promise.all([stdout.finish(), stderr.finish()]);
    noise.flush();
    errors.flush();
    await stdin.close().catch(() => {}); // a broken pipe is what the end of the reader looks like
    events.onExit({ code, signal, badFrame });
  })();
  return {
    pid: child.pid,
    send: (slot, text) => outbox.send(slot, text),
    close: () => void outbox.flushed().then(() => stdin.close()).catch(() => {}), // as above
    kill,
    ended,
  };
};

interface Pump {
  /** Resolves at the stream's end, or a moment later when somebody else keeps it open. */
  finish(): Promise<void>;
}

function pump(stream: ReadableStream<Uint8Array>, onChunk: (chunk: Uint8Array) => void): Pump {
  const reader = stream.getReader();
  const done = (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onChunk(value);
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
