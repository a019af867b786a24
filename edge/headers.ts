/**
 * Response headers that every answer carries, errors included. Nothing inline, nothing from elsewhere, no frames. Proven by `edge/app_test.ts`.
 */
import type { MiddlewareHandler } from "hono";
import type { EdgeConfig, EdgeEnv } from "./deps.ts";
import { isSecure } from "./origin.ts";

/** What a page of ours may load: its own files, and images written into them. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Sets the headers after the route has answered. */
export function securityHeaders(config: EdgeConfig): MiddlewareHandler<EdgeEnv> {
  return async (c, next) => {
    await next();
    c.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
    c.header("X-Content-Type-Options", "nosniff");
    c.header("X-Frame-Options", "DENY");
    c.header("Referrer-Policy", "no-referrer");
    c.header("Cross-Origin-Opener-Policy", "same-origin");
    c.header("Cross-Origin-Resource-Policy", "same-origin");
    c.header("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
    if (isSecure(c, config)) c.header("Strict-Transport-Security", "max-age=31536000");
    if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
  };
}
