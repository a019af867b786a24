/**
 * What the Zulip webhook delivered: one row a message, counting its deliveries. Proven by `edge/webhook_test.ts`.
 */
import { sql, type Statement } from "../db.ts";

/** The statement that notes a delivery; Zulip delivers one message up to four times. */
export function noteDelivery(realm: string, messageId: number, now: number): Statement {
  return sql(
    `INSERT INTO webhook_receipts (realm, message_id, deliveries, at) VALUES (?, ?, 1, ?)
     ON CONFLICT (realm, message_id) DO UPDATE SET deliveries = deliveries + 1`,
    realm,
    messageId,
    now,
  );
}
