/**
 * An address that a tool wants a person to open: which ones may be offered at all, and its parts for showing, the host apart from the rest. It is
 * never fetched by us. Pure. Proven by `form_field_test.ts`.
 */
import { fail, ok, type Result } from "./result.ts";

/** An address as it is shown: `before` + `host` + `after` is `href`. */
export interface WebLink {
  readonly href: string;
  readonly before: string;
  readonly host: string;
  readonly after: string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads an address. Only https, or http on this very machine; no name or password before the host, which people take for the host. Letters of
 * other scripts in a host are shown as their `xn--` form, since two hosts that look the same are none.
 */
export function readWebLink(text: string): Result<WebLink> {
  const url = URL.parse(text);
  if (!url) return fail("bad_request", "It is no address");
  const isSecure = url.protocol === "https:" || url.protocol === "http:" && LOOPBACK.test(url.hostname);
  if (!isSecure) return fail("bad_request", "Only https addresses may be opened");
  if (url.username !== "" || url.password !== "") {
    return fail("bad_request", "An address with a name before its host may not be opened");
  }
  const before = `${url.protocol}//`;
  return ok({
    href: url.href,
    before,
    host: url.host,
    after: url.href.slice(before.length + url.host.length),
  });
}
