/**
 * Entry of the push gateway. Needs `--allow-net` for `pushHosts(config)` and `--ignore-env`; reads no file and starts no process. What it wires is
 * proved by `gateway_test.ts`.
 */
import { systemClock } from "../../lib/clock.ts";
import type { Gateway } from "../../runtime/actor.ts";
import { runGateway } from "../../runtime/gateway_host.ts";
import { createPushGateway } from "./gateway.ts";

// Without idle connections: on a dropped one Deno's fetch would send the POST twice.
const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

/** The push gateway on the machine's clock and network. */
export const gateway: Gateway = createPushGateway({
  clock: systemClock,
  random: Math.random,
  fetch(input, init) {
    const withClient: RequestInit & { client: Deno.HttpClient } = { ...init, client };
    return fetch(input, withClient);
  },
  close: () => client.close(),
});

if (import.meta.main) runGateway(gateway);
