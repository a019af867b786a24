/** A server of the bench as a child process: it prints `{"port":…}`, later perhaps `{"ready":true}`, and is ended by SIGKILL to its whole tree. */
import { Connection } from "../load.ts";
import { killTree } from "../process_tree.ts";

/** How to start it. */
export interface ServerSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The port, when the server is told it and prints nothing. */
  readonly port?: number;
}

/** A running server. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  /** Resolves when it said that it is ready. */
  readonly ready: Promise<void>;
  /** SIGKILL to the process and everything below it; resolves when it is gone. */
  kill(): Promise<void>;
}

const START_MS = 60_000;

/** Starts it; resolves when its port is known. Rejects with what it wrote when it ends before. */
export async function startServer(spec: ServerSpec): Promise<ServerProcess> {
  const child = new Deno.Command(spec.command, {
    args: [...spec.args],
    env: { ...spec.env },
    stdin: "null",
    stdout: spec.port === undefined ? "piped" : "null",
    stderr: "inherit",
  }).spawn();
  const port = Promise.withResolvers<number>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // not everybody waits for it
  const reading = spec.port === undefined ? read(child.stdout, port, ready) : undefined;
  if (spec.port !== undefined) answering(spec.port).then(() => port.resolve(spec.port ?? 0), port.reject);
  const ended = child.status.then(async ({ code, signal }) => {
    await reading;
    const error = new Error(`${spec.args.join(" ")} ended with ${signal ?? code}`);
    port.reject(error);
    ready.reject(error);
  });
  const kill = async () => {
    killTree(child.pid);
    await ended;
  };
  try {
    return {
      pid: child.pid,
      port: await port.promise,
      ready: ready.promise,
      kill,
      [Symbol.asyncDispose]: kill,
    };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function read(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
  port: PromiseWithResolvers<number>,
  ready: PromiseWithResolvers<void>,
): Promise<void> {
  let rest = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter((each) => each.startsWith("{"))) {
      const told: { port?: number; ready?: boolean } = JSON.parse(line);
      if (told.port !== undefined) port.resolve(told.port);
      if (told.ready) ready.resolve();
    }
  }
}

/** Resolves once `POST /health` on this port is answered. */
async function answering(port: number): Promise<void> {
  const giveUp = performance.now() + START_MS;
  for (;;) {
    try {
      using connection = await Connection.open(port);
      await connection.post("/health");
      return;
    } catch (error) {
      if (performance.now() > giveUp) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
