/**
 * Notifications on people's devices. Approval says whom an item waits for and when it waits no more; what is sent to which browser, and whether it
 * still is worth sending, the gateway finds out when it sends.
 */
import * as z from "zod";
import { message } from "./define.ts";

/** An item wants a decision of these people. */
export const PushItem = z.object({
  conversation: z.string(),
  itemId: z.string(),
  version: z.int(),
  userIds: z.array(z.string()),
  /** Why they are told now; each device hears of one reason once. */
  key: z.string(),
});
export type PushItem = z.infer<typeof PushItem>;

/** It is over: whoever was told hears that. */
export const PushSettled = z.object({ conversation: z.string(), itemId: z.string(), version: z.int() });
export type PushSettled = z.infer<typeof PushSettled>;

/** One message to one browser; `attempt` counts from 0. */
export const PushDeliver = z.object({
  itemId: z.string(),
  version: z.int(),
  about: z.enum(["waiting", "settled"]),
  subscriptionId: z.string(),
  attempt: z.int(),
});
export type PushDeliver = z.infer<typeof PushDeliver>;

/** A person wants to see whether it works on this device. */
export const PushTest = z.object({ subscriptionId: z.string(), attempt: z.int().default(0) });
export type PushTest = z.infer<typeof PushTest>;

/** A notification was opened on this device. */
export const PushClicked = z.object({ itemId: z.string(), deviceId: z.string() });
export type PushClicked = z.infer<typeof PushClicked>;

/** A push service took the message about an item. */
export const PushSent = z.object({ itemId: z.string() });
export type PushSent = z.infer<typeof PushSent>;

/** Message types of this subject. A message that may have been sent is sent again: the second takes the place of the first on the device. */
export const pushMessages = {
  "push.item": message(["approval"], ["push"], PushItem, { recovery: "repeat" }),
  "push.settled": message(["approval"], ["push"], PushSettled, { recovery: "repeat" }),
  "push.deliver": message(["push"], ["push"], PushDeliver, { recovery: "repeat" }),
  "push.sent": message(["push"], ["approval"], PushSent),
  "push.test": message(["edge", "push"], ["push"], PushTest, { recovery: "repeat" }),
  "push.clicked": message(["edge"], ["push"], PushClicked, { recovery: "repeat" }),
} as const;
