/**
 * Listens for the application. Refuses to speak plain http to other machines, unless a proxy in front speaks https for it. Promises that `close()`
 * ends, open event streams notwithstanding. Proven by `edge/serve_test.ts`.
 */
import type { EdgeApp } from "./app.ts";
import { isLoopback } from "./origin.ts";

/** Where to listen. */
export interface ServeOptions {
  /** `HOST`. */
  readonly host: string;
  /** `PORT`; 0 takes a free one. */
  readonly port: number;
  /** `PUBLIC_URL`. */
  readonly publicUrl?: string | undefined;
  /** Answers before the application does, for the supervisor's own addresses; undefined passes the request on. */
  readonly before?: ((request: Request) => Promise<Response | undefined>) | undefined;
}

/** A listening server. */
export interface Served {
  /** The address on this machine, without a path. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, ends the streams, and resolves when the last answer is out. */
  close(): Promise<void>;
}

/** Starts to listen. Throws `RangeError` for plain http on an address that other machines can reach. */
export function serve(app: EdgeApp, options: ServeOptions): Served {
  const { host, before } = options;
  if (!isLoopback(host) && !options.publicUrl?.startsWith("https://")) {
    throw new RangeError(
      `'HOST' ${host} would serve plain http to other machines; put a proxy with TLS in front and set PUBLIC_URL to its https address`,
    );
  }
  const server = Deno.serve(
    { hostname: host, port: options.port, onListen: () => {} },
    async (request, info) => {
      return await before?.(request) ?? await app.fetch(request, peerOf(info.remoteAddr));
    },
  );
  const { port } = server.addr;
  return {
    url: `http://${isLoopback(host) ? "localhost" : host}:${port}`,
    port,
    async close() {
      const stopped = server.shutdown();
      await app.closeStreams();
      await stopped;
    },
  };
}

function peerOf(address: Deno.Addr): string | undefined {
  return "hostname" in address ? address.hostname : undefined;
}
