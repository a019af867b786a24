/**
 * Real child processes for the store's contract tests: one holds a file's write lock, one commits until it is killed.
 */
const DENO_ARGS = [
  "run",
  "--quiet",
  "--no-prompt",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys",
  "--allow-ffi",
];

/** A child that prints lines. */
export interface Child {
  readonly pid: number;
  /** The next line of its stdout; undefined at its end. */
  line(): Promise<string | undefined>;
  /** Writes a line to its stdin. */
  tell(text: string): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Resolves when it has ended and its streams are closed; gives the lines not read before. */
  end(): Promise<string[]>;
}

/** Runs a TypeScript file of this folder. */
export function startChild(file: string, ...args: string[]): Child {
  const entry = new URL(`./${file}`, import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...DENO_ARGS, entry, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const lines = splitLines(child.stdout.pipeThrough(new TextDecoderStream()));
  const line = async () => (await lines.next()).value;
  return {
    pid: child.pid,
    line,
    tell: (text) => stdin.write(new TextEncoder().encode(`${text}\n`)),
    kill: (signal) => child.kill(signal),
    async end() {
      const rest: string[] = [];
      for (let next = await line(); next !== undefined; next = await line()) rest.push(next);
      await child.status;
      // A killed child's pipe is broken; that is what was asked for.
      await stdin.close().catch(() => {});
      return rest;
    },
  };
}

async function* splitLines(chunks: ReadableStream<string>): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return undefined;
}

/** Another process that holds the write lock of the file until `release()`. */
export async function holdLock(path: string): Promise<{ release(): Promise<void> }> {
  const child = startChild("lock_holder.ts", path);
  const said = await child.line();
  if (said !== "locked") throw new Error(`the lock holder said ${JSON.stringify(said)}`);
  return {
    async release() {
      await child.tell("release");
      await child.end();
    },
  };
}
