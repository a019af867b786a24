/**
 * What the push gateway asks of the database, at the moment of sending: who takes messages, and whether an item is still what they were to hear of.
 * A browser counts while its device is signed in and its service has not refused it. Proven by `actors/push/gateway_test.ts`.
 */
import * as z from "zod";
import { objects, sql } from "../db.ts";
import { DB_NOW } from "../lease.ts";
import { read } from "../read.ts";

const by = ["push"];

/** A browser that takes messages. */
export interface SubscriptionRow {
  readonly id: string;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** As much of an item as a message tells, and what it is worth. */
export interface PushedItemRow {
  readonly state: string;
  readonly version: number;
  readonly kind: string;
  readonly tool: string | null;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | null;
}

/** Subscriptions that count, for a FROM clause; `d` is the device. */
export const LIVE_SUBSCRIPTIONS =
  `push_subscriptions p JOIN devices d ON d.id = p.device_id AND d.revoked_at IS NULL AND p.failed_at IS NULL
   AND EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = d.id AND s.expires_at > ${DB_NOW})`;

/** Reads of this subject. */
export const pushReads = {
  /** The browsers of these people. */
  "push.devices": read(by, z.object({ userIds: z.array(z.string()) }), async (db, { userIds }) => {
    const rows = await db.query(sql(
      `SELECT p.id FROM ${LIVE_SUBSCRIPTIONS} WHERE d.user_id IN (SELECT value FROM json_each(?)) ORDER BY p.id`,
      JSON.stringify(userIds),
    ));
    return objects<{ id: string }>(rows).map(({ id }) => id);
  }),
  /** The browsers that heard of an item and on which nobody opened or decided it. */
  "push.told": read(by, z.object({ itemId: z.string() }), async (db, { itemId }) => {
    const rows = await db.query(sql(
      `SELECT p.id FROM ${LIVE_SUBSCRIPTIONS} JOIN push_deliveries t ON t.subscription_id = p.id AND t.state = 'sent'
       JOIN pending_items i ON i.id = t.item_id
       WHERE t.item_id = ? AND d.id IS NOT json_extract(i.decision, '$.device') ORDER BY p.id`,
      itemId,
    ));
    return objects<{ id: string }>(rows).map(({ id }) => id);
  }),
  "push.subscription": read(by, z.object({ subscriptionId: z.string() }), async (db, { subscriptionId }) => {
    const rows = await db.query(sql(
      `SELECT p.id, p.endpoint, p.p256dh, p.auth FROM ${LIVE_SUBSCRIPTIONS} WHERE p.id = ?`,
      subscriptionId,
    ));
    return objects<SubscriptionRow>(rows)[0] ?? null;
  }),
  "push.item": read(by, z.object({ itemId: z.string() }), async (db, { itemId }) => {
    const rows = await db.query(sql(
      `SELECT i.state, i.version, i.kind, i.tool, COALESCE(c.title, '') AS title, i.expires_at AS expiresAt
       FROM pending_items i LEFT JOIN conversations c ON c.id = i.conversation WHERE i.id = ?`,
      itemId,
    ));
    return objects<PushedItemRow>(rows)[0] ?? null;
  }),
} as const;
