/**
 * HTTP for the fake server, on 127.0.0.1 with a port of the system's choice.
 *
 * Built on `node:http`, because it gives the socket: a test must be able to take a request, carry it out and close the connection without one byte of
 * answer. Knows nothing of Zulip.
 */
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  /** Resolves when the client hangs up or the answer is out. */
  readonly gone: Promise<void>;
}

export type FakeReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }
  /** Close the connection. */
  | "drop"
  /** Leave it open and say nothing. */
  | "hang";

export interface RunningServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function serve(
  handle: (request: FakeRequest) => Promise<FakeReply>,
  port = 0,
): Promise<RunningServer> {
  const pending = new Set<Promise<void>>();
  const server = createServer((incoming, response) => {
    const gone = new Promise<void>((resolve) => response.once("close", resolve));
    const work = (async () => {
      const reply = await handle(await readRequest(incoming, gone));
      if (reply === "hang" || response.destroyed) return;
      if (reply === "drop") return void incoming.socket.destroy();
      response.writeHead(reply.status, { ...reply.headers, "content-length": Buffer.byteLength(reply.body) });
      response.end(reply.body);
    })().catch((error) => {
      console.error("fake zulip:", error);
      incoming.socket.destroy();
    });
    pending.add(work);
    work.finally(() => pending.delete(work));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the fake server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await Promise.all(pending);
    },
  };
}

async function readRequest(incoming: IncomingMessage, gone: Promise<void>): Promise<FakeRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url ?? "/", "http://127.0.0.1");
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === "string") headers.set(name, value);
  }
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: Buffer.concat(chunks).toString("utf8"),
    gone,
  };
}
