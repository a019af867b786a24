/**
 * A fetch that does not send a POST twice.
 *
 * Deno's fetch re-sends a request by itself when a kept-alive connection drops before the answer; a model step would
 * then be paid twice. Without idle connections there is nothing to re-send on. Proved by `pi/pi_faults_test.ts`.
 */

export interface SingleShotFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): void;
}

/** Opens a client that keeps no idle connection; the caller closes it. */
export function openSingleShotFetch(): SingleShotFetch {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0, http2: false });
  return {
    fetch(input, init) {
      const withClient: RequestInit & { client: Deno.HttpClient } = { ...init, client };
      return fetch(input, withClient);
    },
    close: () => client.close(),
  };
}
