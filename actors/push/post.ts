/**
 * One POST to a push service and what its answer means: taken, the browser is gone, try again later, or never. It knows no item and no row.
 * Proven by `gateway_test.ts` against a push service that checks and decrypts what it gets.
 */
import { isPushEndpoint } from "../../lib/push_endpoint.ts";
import type { SubscriptionRow } from "../../store/reads/push.ts";
import type { PushConfig } from "./config.ts";
import { encrypt, freshKeys } from "./encrypt.ts";
import { authorization } from "./vapid.ts";

/** What to send. */
export interface PushMessage {
  readonly text: string;
  /** An undelivered message of the same topic is replaced: at most 32 letters of base64url. */
  readonly topic: string;
  readonly urgency: "normal" | "high";
  /** How long the service keeps it for a device that is off. */
  readonly ttlSeconds: number;
}

/** What became of it. `waitMs`: what the service asked for, if anything. */
export type Posted =
  | { readonly kind: "sent" }
  | { readonly kind: "gone" }
  | { readonly kind: "later"; readonly waitMs?: number | undefined; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

/** What a POST needs of the world. */
export interface PostDeps {
  readonly config: PushConfig;
  readonly fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Sends. Rejects never: what the platform throws is a reason. */
export async function post(to: SubscriptionRow, message: PushMessage, deps: PostDeps): Promise<Posted> {
  const { config, now, signal } = deps;
  const { endpoint } = to;
  if (!isPushEndpoint(endpoint, config.testOrigin)) return { kind: "refused", reason: "no push service" };
  let body: Uint8Array<ArrayBuffer>;
  try {
    body = await encrypt(message.text, to, await freshKeys());
  } catch (error) {
    return { kind: "refused", reason: `cannot be encrypted for this browser (${nameOf(error)})` };
  }
  try {
    const answer = await deps.fetch(endpoint, {
      method: "POST",
      // A push service that sends elsewhere would undo the list of where we may send.
      redirect: "manual",
      headers: {
        Authorization: await authorization(config.key, { endpoint, contact: config.contact, now: now() }),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        TTL: String(message.ttlSeconds),
        Topic: message.topic,
        Urgency: message.urgency,
      },
      body,
      signal,
    });
    await answer.body?.cancel();
    return meaningOf(answer, now());
  } catch (error) {
    return { kind: "later", reason: nameOf(error) };
  }
}

function meaningOf({ status, headers }: Response, now: number): Posted {
  if (status >= 200 && status < 300) return { kind: "sent" };
  if (status === 404 || status === 410) return { kind: "gone" };
  const reason = `status ${status}`;
  if (status === 429 || status >= 500) {
    return { kind: "later", reason, waitMs: waitMsOf(headers.get("retry-after"), now) };
  }
  return { kind: "refused", reason };
}

/** `Retry-After`: seconds or a date. */
function waitMsOf(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
