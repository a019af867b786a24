/**
 * Whom attempts are counted for: the network at the other end. Behind a proxy everybody would share the proxy's address, and one stranger could keep
 * the owner from signing in; so there the address counts that the proxy says it was called from. Proven by `edge/peer_test.ts`.
 */
import type { Context } from "hono";
import type { Edge, EdgeEnv } from "./deps.ts";
import { isLoopback } from "./origin.ts";

/** What the other end is counted as. The header is read only where a proxy must be in front, and only from a neighbour: anybody can write one. */
export function peerOf(c: Context<EdgeEnv>, edge: Pick<Edge, "config">): string {
  return countedAs({
    peer: c.env?.peer,
    forwardedFor: c.req.header("x-forwarded-for"),
    isProxied: edge.config.publicUrl?.startsWith("https:") ?? false,
  });
}

/**
 * The same, of its parts. `isProxied`: people reach us under https, which we do not speak. Of a list the last entry counts, the one that the proxy wrote
 * itself.
 */
export function countedAs(
  { peer, forwardedFor, isProxied }: {
    readonly peer: string | undefined;
    readonly forwardedFor: string | undefined;
    readonly isProxied: boolean;
  },
): string {
  if (peer === undefined) return "unknown";
  const near = networkOf(peer) ?? peer;
  if (!isProxied || !isNeighbour(peer)) return near;
  return networkOf(forwardedFor?.split(",").at(-1)?.trim() ?? "") ?? near;
}

const V4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** This machine, or a private network, as a container's proxy is in. */
function isNeighbour(address: string): boolean {
  const v4 = V4.exec(address)?.[1] ?? address;
  return isLoopback(v4) ||
    /^127\.|^10\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^f[cd][0-9a-f]{2}:|^fe80:/i.test(v4);
}

/** An IPv4 address, or the /64 of an IPv6 one, which is what one customer has; undefined for anything else. */
function networkOf(address: string): string | undefined {
  const v4 = V4.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  // A zone names our own interface.
  const url = URL.parse(`http://[${address.replace(/%.*$/, "")}]/`);
  if (url === null) return undefined;
  const [head = "", tail] = url.hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = tail === undefined
    ? before
    : [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}
