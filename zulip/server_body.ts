/**
 * A message body as the server will store it, so that a body we sent can be found again in history.
 *
 * Promises: the same trimming (Python's idea of white space), the same refusals and the same silent cut as the server makes, counted in code points.
 * Does not render Markdown. Pure but for the hash. Proved by `text_test.ts` and, against the fake server, `client_test.ts`.
 */

/** What `str.rstrip()` removes; not the same set as `String.prototype.trimEnd`. */
const TRAILING_SPACE =
  // deno-lint-ignore no-control-regex -- these controls are white space to the server.
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/u;

const TRUNCATED = "\n[message truncated]";

export type ServerBody =
  | { readonly ok: true; readonly body: string; readonly truncated: boolean }
  | { readonly ok: false; readonly reason: "empty" | "nul" };

/**
 * @param maxLength the server's `max_message_length`, in code points.
 */
export function serverBody(content: string, maxLength = 10_000): ServerBody {
  // A form cannot carry lone surrogates; encoding replaces them.
  const body = content.toWellFormed().replace(TRAILING_SPACE, "").replace(/^\n+/, "");
  if (body === "") return { ok: false, reason: "empty" };
  if (body.includes("\0")) return { ok: false, reason: "nul" };
  const points = [...body];
  if (points.length <= maxLength) return { ok: true, body, truncated: false };
  return {
    ok: true,
    body: points.slice(0, maxLength - TRUNCATED.length).join("") + TRUNCATED,
    truncated: true,
  };
}

/** SHA-256 of the UTF-8 text, in lower-case hex. */
export async function bodyHash(body: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
