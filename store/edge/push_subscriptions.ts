/**
 * The one browser of each device that takes push messages. Its row is the edge's; that the push service refused it (`failed_at`, keys gone) is
 * written by the push gateway. Proven by `edge/push_test.ts`.
 */
import { type Db, objects, sql, type Statement } from "../db.ts";

/** A browser as it subscribed. */
export interface NewSubscription {
  readonly id: string;
  readonly deviceId: string;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** What a device's page is shown. Times are milliseconds since the epoch. */
export interface SubscriptionState {
  readonly id: string;
  readonly endpoint: string;
  readonly createdAt: number;
  /** The push service says that this browser takes no more messages. */
  readonly failedAt: number | null;
  readonly lastAt: number | null;
  readonly lastState: string | null;
  readonly testAt: number | null;
  readonly testState: string | null;
}

/**
 * Makes this the device's subscription. Whoever had the same browser before has it no more: somebody else signed in there, who must not get the
 * other's messages.
 */
export function putSubscription(subscription: NewSubscription, now: number): Statement[] {
  const { id, deviceId, endpoint, p256dh, auth } = subscription;
  return [
    sql("DELETE FROM push_subscriptions WHERE device_id = ? OR endpoint = ?", deviceId, endpoint),
    sql(
      "INSERT INTO push_subscriptions (id, device_id, endpoint, p256dh, auth, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      deviceId,
      endpoint,
      p256dh,
      auth,
      now,
    ),
  ];
}

/** Ends the device's subscription. */
export function deleteSubscription(deviceId: string): Statement[] {
  return [sql("DELETE FROM push_subscriptions WHERE device_id = ?", deviceId)];
}

/** The device's subscription, if it has one. Rejects with `DbError`. */
export async function findSubscription(db: Db, deviceId: string): Promise<SubscriptionState | undefined> {
  const rows = await db.query(sql(
    `SELECT p.id, p.endpoint, p.created_at AS createdAt, p.failed_at AS failedAt, l.at AS lastAt, l.state AS lastState,
       t.at AS testAt, t.state AS testState
     FROM push_subscriptions p
     LEFT JOIN push_deliveries t ON t.subscription_id = p.id AND t.item_id = 'test'
     LEFT JOIN push_deliveries l ON l.subscription_id = p.id AND l.item_id =
       (SELECT item_id FROM push_deliveries WHERE subscription_id = p.id AND item_id <> 'test' ORDER BY at DESC LIMIT 1)
     WHERE p.device_id = ?`,
    deviceId,
  ));
  return objects<SubscriptionState>(rows)[0];
}
