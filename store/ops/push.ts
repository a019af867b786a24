/**
 * Operations of the push gateway: what became of each message, and that a browser takes no more. Proven by `actors/push/gateway_test.ts`.
 */
import * as z from "zod";
import { sql } from "../db.ts";
import { op } from "../op.ts";

const by = ["push"];

/** `sent`: the service took it. `failed`: it did not, finally. `settled`: the device heard that it is over. */
const Outcome = z.object({
  itemId: z.string(),
  subscriptionId: z.string(),
  state: z.enum(["sent", "failed", "settled"]),
});

/** Operations of this subject. */
export const pushOps = {
  "push.outcome": op(by, Outcome, ({ itemId, subscriptionId, state }, { now }) => [
    sql(
      `INSERT INTO push_deliveries (item_id, subscription_id, state, at) VALUES (?, ?, ?, ?)
       ON CONFLICT (item_id, subscription_id) DO UPDATE SET state = excluded.state, at = excluded.at`,
      itemId,
      subscriptionId,
      state,
      now,
    ),
  ]),
  /** The service says that the browser is gone: its keys go, the row stays to say so until the device subscribes again. */
  "push.blocked": op(by, z.object({ subscriptionId: z.string() }), ({ subscriptionId }, { now }) => [
    sql(
      "UPDATE push_subscriptions SET failed_at = ?, p256dh = '', auth = '' WHERE id = ? AND failed_at IS NULL",
      now,
      subscriptionId,
    ),
  ]),
  /** A person opened the notification. */
  "push.clicked": op(
    by,
    z.object({ itemId: z.string(), deviceId: z.string() }),
    ({ itemId, deviceId }, { now }) => [
      sql(
        `UPDATE push_deliveries SET state = 'clicked', at = ? WHERE item_id = ? AND state = 'sent'
         AND subscription_id IN (SELECT id FROM push_subscriptions WHERE device_id = ?)`,
        now,
        itemId,
        deviceId,
      ),
    ],
  ),
} as const;
