/**
 * The doorbell between an edge on another machine and the supervisor: a signed POST that says "there are new rows for these actors". It carries no
 * content, may be lost (the supervisor polls anyway) and may be repeated. Proven by `edge/serve_test.ts`.
 */
import * as z from "zod";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "./deps.ts";
import { isSameSecret } from "./secrets.ts";

/** How far the two machines' clocks may differ, in milliseconds. */
const TOLERANCE_MS = 60_000;
const GIVE_UP_MS = 5_000;
const MAX_BYTES = 16 * 1024;
const TIME = "X-Callboard-Time";
const SIGNATURE = "X-Callboard-Signature";

const Ring = z.strictObject({ refs: z.array(z.string().max(100)).min(1).max(200) });

/** A signed request's headers for this body: HMAC-SHA-256 over the time, a line break and the body, in hex. */
export async function signDoorbell(
  secret: string,
  body: string,
  now: number,
): Promise<Record<string, string>> {
  return { [TIME]: String(now), [SIGNATURE]: await hmacHex(secret, `${now}\n${body}`) };
}

/** The refs of a doorbell request, or undefined when it is not signed with the secret, too old, or no doorbell at all. */
export async function verifyDoorbell(
  secret: string,
  request: Request,
  now: number,
): Promise<readonly string[] | undefined> {
  const time = request.headers.get(TIME) ?? "";
  const signature = request.headers.get(SIGNATURE) ?? "";
  const length = Number(request.headers.get("content-length") ?? MAX_BYTES + 1);
  if (!/^\d{1,16}$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE_MS || !(length <= MAX_BYTES)) {
    return undefined;
  }
  const body = await request.text();
  if (!isSameSecret(signature, await hmacHex(secret, `${time}\n${body}`))) return undefined;
  return Ring.safeParse(parseJson(body)).data?.refs;
}

/** What the sender needs. */
export interface DoorbellOptions {
  /** `DOORBELL_URL`. */
  readonly url: string;
  /** `DOORBELL_SECRET`. */
  readonly secret: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rings for actors, without waiting; what comes while one ring is under way goes together with the next. */
export interface Doorbell {
  ring(refs: readonly string[]): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** A doorbell that posts. Throws `RangeError` for a secret that is too short. */
export function remoteDoorbell(options: DoorbellOptions): Doorbell {
  if (options.secret.length < 32) {
    throw new RangeError(
      `'DOORBELL_SECRET' must have at least 32 characters, received ${options.secret.length}`,
    );
  }
  const waiting = new Set<string>();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      const refs = [...waiting].slice(0, 200);
      for (const ref of refs) waiting.delete(ref);
      await post(options, refs);
    }
    running = undefined;
  }

  return {
    ring(refs) {
      for (const ref of refs) waiting.add(ref);
      running ??= run();
    },
    idle: () => running ?? Promise.resolve(),
  };
}

async function post(
  { url, secret, fetch, clock, log }: DoorbellOptions,
  refs: readonly string[],
): Promise<void> {
  const abort = new AbortController();
  const cancel = clock.after(GIVE_UP_MS, () => abort.abort());
  try {
    const body = JSON.stringify({ refs });
    const headers = { "Content-Type": "application/json", ...await signDoorbell(secret, body, clock.now()) };
    const response = await fetch(new Request(url, { method: "POST", headers, body, signal: abort.signal }));
    await response.body?.cancel();
    if (!response.ok) log("warn", "The doorbell was refused", { status: response.status });
  } catch (error) {
    log("warn", "The doorbell could not be rung", {
      reason: error instanceof Error ? error.name : "unknown",
    });
  } finally {
    cancel();
  }
}

async function hmacHex(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
