/**
 * Which origin a request came to and from. Refuses hosts that are not ours (DNS rebinding) and, on the API, requests that another site's page
 * made (CSRF, cross-site reads). There are no CORS headers anywhere. Proven by `edge/permissions_test.ts`.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { EdgeConfig, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** True for a host name that only this machine can mean. `[::1]` as in a URL, or `::1`. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname) || hostname === "::1";
}

/** Whether a `PUBLIC_URL` can be ours: https, or http on a loopback name, without a path. */
export function isPublicOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.pathname === "/" && url.search === "" && url.hash === "" &&
    url.username === "" &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)));
}

/** Throws `RangeError` for a `PUBLIC_URL` that is no origin of ours. */
export function checkPublicUrl(text: string | undefined): void {
  if (text === undefined || isPublicOrigin(text)) return;
  throw new RangeError(
    "'PUBLIC_URL' must be an https origin without a path, such as https://board.example.org",
  );
}

/** The origin that this request was made to, or undefined when its host is not ours. */
export function ownOrigin(c: Context<EdgeEnv>, config: EdgeConfig): string | undefined {
  const host = (c.req.header("host") ?? new URL(c.req.url).host).toLowerCase();
  const publicUrl = config.publicUrl === undefined ? null : URL.parse(config.publicUrl);
  if (publicUrl && host === publicUrl.host) return publicUrl.origin;
  const named = URL.parse(`http://${host}`);
  return named && named.host === host && isLoopback(named.hostname) ? named.origin : undefined;
}

/** Whether the browser holds this page over TLS: what the cookie's name and HSTS depend on. */
export function isSecure(c: Context<EdgeEnv>, config: EdgeConfig): boolean {
  return ownOrigin(c, config)?.startsWith("https:") ?? false;
}

/** Refuses every request to a host that is not ours. */
export function requireOwnHost(config: EdgeConfig): MiddlewareHandler<EdgeEnv> {
  return async (c, next) => {
    if (ownOrigin(c, config) === undefined) {
      throw new ApiError(
        "forbidden",
        "This host name is not served here; set PUBLIC_URL to the address you use",
      );
    }
    await next();
  };
}

/** Refuses what another origin's page asks for. Clients that are no browsers send neither header. */
export function requireOwnOrigin(config: EdgeConfig): MiddlewareHandler<EdgeEnv> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const site = c.req.header("sec-fetch-site");
    const foreign = (origin !== undefined && origin !== ownOrigin(c, config)) ||
      (site !== undefined && site !== "same-origin" && site !== "none");
    // A typed address or bookmark (`none`) may read, but nothing a person did on a page of ours looks like that.
    const unasked = site === "none" && c.req.method !== "GET" && c.req.method !== "HEAD";
    if (foreign || unasked) throw new ApiError("forbidden", "Requests from other sites are refused");
    await next();
  };
}
