/**
 * Closed-loop HTTP load: so many kept-alive connections, each with one request in flight, over plain TCP, because `fetch` would cost more than
 * what is measured. Knows just enough HTTP/1.1 for answers with a `content-length` or in one chunk. Proven by `bench_test.ts`.
 */
import { Samples } from "./samples.ts";

/** What to send, for how long. */
export interface LoadOptions {
  readonly port: number;
  readonly inFlight: number;
  readonly ms: number;
  readonly warmUpMs: number;
  /** Path of the request with this number; the method is POST. */
  readonly path: (index: number) => string;
}

/** What came of it. */
export interface LoadResult {
  readonly perSecond: number;
  readonly latency: Samples;
}

/** Sends load. Rejects when an answer is not 200. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latency = new Samples();
  const began = performance.now() + options.warmUpMs;
  const end = began + options.ms;
  let next = 0;
  const one = async () => {
    using connection = await Connection.open(options.port);
    while (performance.now() < end) {
      const sent = performance.now();
      await connection.post(options.path(next++));
      const answered = performance.now();
      if (answered >= began && answered <= end) latency.add(answered - sent);
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, one));
  return { perSecond: latency.count * 1_000 / options.ms, latency };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One kept-alive connection to a loopback port. */
export class Connection implements Disposable {
  readonly #socket: Deno.TcpConn;
  readonly #buffer = new Uint8Array(64 << 10);

  private constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
  }

  static async open(port: number): Promise<Connection> {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  /** Sends a POST without a body and returns the answer's body. Rejects when it is not 200. */
  async post(path: string): Promise<string> {
    const request = encoder.encode(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n`);
    for (let at = 0; at < request.length;) at += await this.#socket.write(request.subarray(at));
    let text = "";
    for (;;) {
      const count = await this.#socket.read(this.#buffer);
      if (count === null) throw new Error(`${path}: the connection ended`);
      text += decoder.decode(this.#buffer.subarray(0, count));
      const body = bodyOf(text);
      if (body === undefined) continue;
      if (!text.startsWith("HTTP/1.1 200")) throw new Error(`${path}: ${text.slice(0, 200)}`);
      return body;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/** The body of a whole answer, or undefined while some of it is missing. */
export function bodyOf(text: string): string | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1];
  const body = text.slice(head + 4);
  if (length !== undefined) return body.length >= Number(length) ? body : undefined;
  if (!body.endsWith("0\r\n\r\n")) return undefined;
  return body.slice(body.indexOf("\r\n") + 2, body.lastIndexOf("\r\n0\r\n"));
}
