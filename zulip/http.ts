/**
 * One HTTP call to a Zulip server: authentication, form encoding, time and size limits.
 *
 * Promises: a POST, PATCH or DELETE leaves this process at most once. (`fetch` by itself repeats a request whose kept-alive connection closes before the
 * answer, so writes go through a client that keeps no idle connection and speaks HTTP/1.1.) After a 429 no call is made until the wait the server named
 * is over, because each try while limited counts. Redirects are not followed: the key goes to one origin only. Does not retry and does not know what a
 * call means. Proved by `client_test.ts`.
 */
import type * as z from "zod";
import { type Clock, systemClock } from "../lib/clock.ts";
import { failureOf, ZulipError } from "./errors.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Values of a form: strings go as they are, everything else as JSON; `undefined` is left out. */
export type Params = Readonly<Record<string, unknown>>;

/** `fetch` with Deno's `client` option. */
export type Fetch = (url: string, init: RequestInit & { client?: Deno.HttpClient }) => Promise<Response>;

export interface HttpOptions {
  /** The realm's address, such as `https://chat.example.com`. A path is not allowed. */
  readonly site: string;
  readonly email: string;
  readonly apiKey: string;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  readonly userAgent?: string;
  /** Limit for one whole call, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number;
  /** Longest answer read, in bytes. @default 33_554_432 */
  readonly maxResponseBytes?: number;
}

export interface CallOptions<S extends z.ZodType> {
  /** The path's parts after `/api/v1`, encoded; `operation` in errors names them. */
  readonly path: string;
  readonly params?: Params;
  /** What the answer must look like. */
  readonly schema: S;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** False for the calls that need no account. @default true */
  readonly authenticated?: boolean;
}

export interface ZulipHttp {
  /** Rejects with {@link ZulipError}, or with the signal's reason when aborted. */
  call<S extends z.ZodType>(method: Method, options: CallOptions<S>): Promise<z.output<S>>;
  /** Frees the sockets. Idempotent. */
  close(): void;
}

/** @throws {TypeError} when 'site' is no http(s) origin. */
export function createHttp(options: HttpOptions): ZulipHttp {
  const origin = parseOrigin(options.site);
  const clock = options.clock ?? systemClock;
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  const authorization = "Basic " + toBase64(`${options.email}:${options.apiKey}`);
  const maxBytes = options.maxResponseBytes ?? 32 * 1024 * 1024;
  const once = Deno.createHttpClient({ poolMaxIdlePerHost: 0, http2: false });
  const pooled = Deno.createHttpClient({});
  // GET /events has a bucket of its own on the server, so a limited API does not silence the event loop.
  const limitedUntil = { events: -Infinity, api: -Infinity };
  let closed = false;

  async function call<S extends z.ZodType>(method: Method, call: CallOptions<S>): Promise<z.output<S>> {
    const operation = `${method} ${call.path.replaceAll(/\/\d+/g, "/{id}")}`;
    const bucket = operation === "GET /events" ? "events" : "api";
    const waitMs = limitedUntil[bucket] - clock.monotonic();
    if (waitMs > 0) throw new ZulipError(operation, { kind: "rate_limited", retryAfterMs: waitMs });
    call.signal?.throwIfAborted();

    const deadline = startDeadline(clock, call.timeoutMs ?? options.timeoutMs ?? 30_000, call.signal);
    try {
      const form = encodeForm(call.params ?? {});
      const query = method === "GET" && form.size > 0 ? `?${form}` : "";
      const response = await send(`${origin}/api/v1${call.path}${query}`, {
        method,
        redirect: "manual",
        signal: deadline.signal,
        client: method === "GET" ? pooled : once,
        headers: {
          "accept": "application/json",
          "user-agent": options.userAgent ?? "Callboard/0.1",
          ...(call.authenticated === false ? {} : { authorization }),
        },
        ...(method === "GET" ? {} : { body: form }),
      });
      const body = parseJson(await readLimited(response, maxBytes, operation));
      if (response.status < 200 || response.status > 299) {
        const failure = failureOf(response.status, response.headers, body);
        if (failure.kind === "rate_limited") limitedUntil[bucket] = clock.monotonic() + failure.retryAfterMs;
        throw new ZulipError(operation, failure);
      }
      const parsed = call.schema.safeParse(body);
      if (!parsed.success) {
        const where = parsed.error.issues.map((issue) => issue.path.join(".") || "(body)").join(", ");
        throw new ZulipError(operation, { kind: "bad_response", reason: `unexpected JSON at ${where}` });
      }
      return parsed.data;
    } catch (error) {
      if (error instanceof ZulipError) throw error;
      call.signal?.throwIfAborted();
      if (deadline.expired()) throw new ZulipError(operation, { kind: "timeout", afterMs: deadline.ms });
      throw new ZulipError(operation, { kind: "network" }, withoutUrl(error));
    } finally {
      deadline.clear();
    }
  }

  return {
    call,
    close() {
      if (closed) return;
      closed = true;
      once.close();
      pooled.close();
    },
  };
}

function parseOrigin(site: string): string {
  const url = URL.canParse(site) ? new URL(site) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.username) {
    throw new TypeError(`'site' must be an address such as "https://chat.example.com", received "${site}"`);
  }
  return url.origin;
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function encodeForm(params: Params): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form;
}

/** A signal that fires on the caller's abort or after `ms`; `clear` leaves no timer and no listener behind. */
function startDeadline(clock: Clock, ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let expired = false;
  const cancel = clock.after(ms, () => {
    expired = true;
    controller.abort(new Error("deadline"));
  });
  const forward = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", forward, { once: true });
  return {
    ms,
    signal: controller.signal,
    expired: () => expired,
    clear() {
      cancel();
      outer?.removeEventListener("abort", forward);
    },
  };
}

async function readLimited(response: Response, maxBytes: number, operation: string): Promise<string> {
  if (!response.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > maxBytes) {
      throw new ZulipError(operation, { kind: "bad_response", reason: `longer than ${maxBytes} bytes` });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The runtime's message may hold the whole URL with its query, so only the error's name is kept. */
function withoutUrl(error: unknown): unknown {
  return error instanceof Error ? new Error(error.name) : undefined;
}
