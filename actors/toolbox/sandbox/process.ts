/**
 * Runs one child process to its end. Promises: an empty environment but for what is given, a time limit, a stop that is polite first
 * (the child's stdin is closed) and then final (SIGKILL), and that reading its pipes ends at most 2 s after it. It does not know sandboxes;
 * that nothing survives inside one is the sandbox's promise. Proven by `tools/tools_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";

/** Which pipe a piece of output came from. */
export type Stream = "stdout" | "stderr";

/** One process to run. */
export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Written to its stdin, which is then closed. Without it stdin stays open until the process is to stop. */
  readonly stdin?: Uint8Array | undefined;
  readonly timeoutMs: number;
  /** How long it may take to end by itself once told to. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
  onOutput(stream: Stream, bytes: Uint8Array): void;
}

/** How a process ended. `code` is 124 after the time limit and 137 after an abort, as shells and `timeout` have it. */
export interface Exit {
  readonly code: number;
  readonly how: "exited" | "timed_out" | "aborted";
  readonly durationMs: number;
}

const DRAIN_MS = 2_000;

/** Runs it. Rejects when it cannot be started (`Deno.errors.NotFound`, `NotCapable`). */
export async function runProcess(spec: ProcessSpec, clock: Clock): Promise<Exit> {
  if (spec.signal.aborted) return { code: 137, how: "aborted", durationMs: 0 };
  const began = clock.monotonic();
  const child = new Deno.Command(spec.command, {
    args: [...spec.args],
    clearEnv: true,
    env: { ...spec.env },
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  const pipes = [
    readAll(child.stdout, "stdout", spec.onOutput),
    readAll(child.stderr, "stderr", spec.onOutput),
  ];
  const input = feed(child.stdin, spec.stdin);

  const end: { how: Exit["how"] } = { how: "exited" };
  let cancelKill = () => {};
  const stop = (reason: Exit["how"]) => {
    if (end.how !== "exited") return;
    end.how = reason;
    input.close();
    cancelKill = clock.after(spec.graceMs, () => kill(child));
  };
  const onAbort = () => stop("aborted");
  const cancelTimeout = clock.after(spec.timeoutMs, () => stop("timed_out"));
  spec.signal.addEventListener("abort", onAbort, { once: true });

  const status = await child.status;
  cancelTimeout();
  cancelKill();
  spec.signal.removeEventListener("abort", onAbort);
  input.close();
  const cancelDrain = clock.after(DRAIN_MS, () => pipes.forEach((pipe) => pipe.cancel()));
  await Promise.all([...pipes.map((pipe) => pipe.done), input.done]);
  cancelDrain();
  const code = end.how === "timed_out" ? 124 : end.how === "aborted" ? 137 : status.code;
  return { code, how: end.how, durationMs: clock.monotonic() - began };
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}

function readAll(source: ReadableStream<Uint8Array>, stream: Stream, onOutput: ProcessSpec["onOutput"]) {
  const reader = source.getReader();
  const done = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onOutput(stream, value);
    }
  })().catch(() => {
    // Cancelled while draining: what came until then is what there is.
  });
  return { done, cancel: () => void reader.cancel().catch(() => {}) };
}

/** A child may close its stdin before it has read all of it; that is its right. */
function feed(sink: WritableStream<Uint8Array>, bytes: Uint8Array | undefined) {
  const writer = sink.getWriter();
  let closed: Promise<void> | undefined;
  const close = () => void (closed ??= writer.close().catch(() => {}));
  let done: Promise<void> = Promise.resolve();
  if (bytes !== undefined) {
    done = writer.write(bytes).catch(() => {});
    close();
  }
  return { close, done: done.then(() => closed) };
}
