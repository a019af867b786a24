/**
 * MCP over a child process's stdin and stdout, one JSON message a line. Our own instead of the SDK's, because the child must be started
 * by us: in the sandbox, with a cleared environment, without reading ours. Promises that `onclose` comes once, after the process has ended,
 * and that `close` ends the process within the grace, and with it what it started in its group. Proven by `stdio_transport_test.ts` and
 * `mcp_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";
import { type JSONRPCMessage, parseMessage, type Transport } from "./_sdk.ts";

/** The child to start. */
export interface ChildSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Of a child without a sandbox to end what it started, such as the server behind `npx`: the bash that does it. */
  readonly bash?: string | undefined;
}

/** Longest message that a server may send, in characters. */
const MAX_LINE = 10 * 1024 * 1024;
const GRACE_MS = 1_000;
/** How long pipes are read that somebody outside the group keeps open, once the child has ended. */
const DRAIN_MS = 500;
const STDERR_KEPT = 2_000;

/** Starts the child when the client connects. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #child: Deno.ChildProcess | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #ended: Promise<void> | undefined;
  #isClosed = false;
  #said = "";

  constructor(private readonly spec: ChildSpec, private readonly clock: Clock) {}

  /** The end of what the server wrote to stderr: why it died, usually. */
  get said(): string {
    return this.#said.trim();
  }

  /** Rejects when it was closed before: nobody would end what is started now. */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The MCP server was stopped before it began"));
    const child = new Deno.Command(this.spec.command, {
      args: [...this.spec.args],
      env: { ...this.spec.env },
      clearEnv: true,
      ...(this.spec.cwd === undefined ? {} : { cwd: this.spec.cwd }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    const given = new AbortController();
    const reading = [
      this.#readMessages(child.stdout, given.signal),
      this.#readErrors(child.stderr, given.signal),
    ];
    this.#ended = (async () => {
      await child.status;
      await this.#endGroup(child.pid);
      const cancel = this.clock.after(DRAIN_MS, () => given.abort());
      await Promise.allSettled([...reading, this.#writer?.close()]);
      cancel();
      this.onclose?.();
    })();
    return Promise.resolve();
  }

  /** At once, before the number could be anybody else's. By bash, since we may not send signals to whom we did not start. */
  async #endGroup(pid: number): Promise<void> {
    if (this.spec.bash === undefined) return;
    const args = ["--noprofile", "--norc", "-c", 'kill -KILL -- "-$1"', "callboard", String(pid)];
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    await new Deno.Command(this.spec.bash, { args, clearEnv: true, ...quiet }).output()
      .catch(() => undefined); // without a bash there is nobody who could
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#writer) throw new Error("The MCP server is not running");
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  /** Ends stdin, as the protocol wants, and kills what does not end by itself. Resolves, every time, when no process is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (!child) return await this.#ended;
    this.#child = undefined;
    void this.#writer?.close().catch(() => {});
    const cancel = this.clock.after(GRACE_MS, () => kill(child));
    await this.#ended;
    cancel();
  }

  async #readMessages(source: ReadableStream<Uint8Array>, until: AbortSignal): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of upTo(source, until)) {
      const text = decoder.decode(bytes, { stream: true });
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") this.#take(line);
      if (rest.length > MAX_LINE && this.#child) {
        this.onerror?.(new Error("The MCP server sent a line without end"));
        kill(this.#child);
        rest = "";
      }
    }
  }

  #take(line: string): void {
    try {
      this.onmessage?.(parseMessage(line));
    } catch (error) {
      this.onerror?.(new Error("The MCP server sent a line that is no message", { cause: error }));
    }
  }

  async #readErrors(source: ReadableStream<Uint8Array>, until: AbortSignal): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of upTo(source, until)) {
      this.#said = (this.#said + decoder.decode(bytes, { stream: true })).slice(-STDERR_KEPT);
    }
  }
}

/** What comes until the stream's end, or until nobody reads any further. */
async function* upTo(source: ReadableStream<Uint8Array>, until: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = source.getReader();
  until.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}
