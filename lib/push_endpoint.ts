/**
 * To which addresses a push message may go: the services of the browsers that there are. A browser names its own service, so without this list
 * anybody with an account could have the server POST wherever it can reach. Both the edge, which takes an address, and the gateway, which uses it,
 * ask here. Pure. Proven by `push_endpoint_test.ts`.
 */

/** The services, as Deno's `--allow-net` writes them; `*.` stands for any name below. */
export const PUSH_HOSTS: readonly string[] = [
  "fcm.googleapis.com",
  "updates.push.services.mozilla.com",
  "*.push.apple.com",
  "*.notify.windows.com",
];

const MAX_LENGTH = 1_000;

/** Whether a push message may be sent there. `testOrigin` is one more origin, of a push service for tests; undefined on every real installation. */
export function isPushEndpoint(text: string, testOrigin?: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.length > MAX_LENGTH || url.username !== "" || url.password !== "") return false;
  if (testOrigin !== undefined && url.origin === testOrigin) return true;
  return url.protocol === "https:" && url.port === "" && PUSH_HOSTS.some((host) => fits(url.hostname, host));
}

function fits(hostname: string, host: string): boolean {
  return host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : hostname === host;
}
