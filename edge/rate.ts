/**
 * How often one address or person may do what is costly or guessable. The counts are rows, shared by every instance.
 */
import type { Context } from "hono";
import { type Bucket, takeToken } from "../store/edge/rate_limits.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { ApiError } from "./errors.ts";

/** Sign-in attempts of one address: ten at once, then one every six seconds. */
export const SIGN_IN: Bucket = { capacity: 10, perSecond: 1 / 6 };

/** Messages, commands and decisions of one person. */
export const WRITES: Bucket = { capacity: 60, perSecond: 2 };

/** Push messages that a person sends to themselves. */
export const PUSH_TESTS: Bucket = { capacity: 5, perSecond: 1 / 10 };

/** Webhook calls with a wrong token, of one address. */
export const WRONG_WEBHOOK: Bucket = { capacity: 20, perSecond: 1 / 3 };

/** Throws `rate_limited` when the bucket is empty. */
export async function limit(edge: Edge, key: string, bucket: Bucket): Promise<void> {
  if (!await takeToken(edge.db, key, bucket, edge.clock.now())) {
    throw new ApiError("rate_limited", "Too many attempts; wait a minute and try again");
  }
}

/** `limit` for the signed-in person's writes. */
export function limitWrites(c: Context<EdgeEnv>, edge: Edge): Promise<void> {
  return limit(edge, `writes/${c.get("session").viewer.userId}`, WRITES);
}
