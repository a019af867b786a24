/**
 * The way in for Zulip's outgoing webhook: check the token, commit a receipt and one durable message, answer. It does not route, and works while
 * the supervisor is away. Promises that the answer means *committed* and that one Zulip message becomes one message, however often it is
 * delivered. Proven by `edge/webhook_test.ts`.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as z from "zod";
import { noteDelivery } from "../../store/edge/webhook_receipts.ts";
import { RESPONSE_NOT_REQUIRED } from "../../zulip/wire/webhook.ts";
import { readBody } from "../body.ts";
import type { Edge, EdgeEnv } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { send } from "../outbox.ts";
import { peerOf } from "../peer.ts";
import { limit, WRONG_WEBHOOK } from "../rate.ts";
import { isSameSecret } from "../secrets.ts";

const MAX_BYTES = 512 * 1024;

/** Far above what a bot is asked in a day of the supervisor being away, far below what fills a disk. */
const MAILBOX = 10_000;

/** Only what is needed here; the zulip actor reads the message itself. */
const Delivery = z.object({
  token: z.string(),
  message: z.looseObject({ id: z.int().positive() }),
});

/** `POST /zulip/webhook`. */
export function webhookRoutes(edge: Edge): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.post("/webhook", bodyLimit({ maxSize: MAX_BYTES, onError: tooLarge }), async (c) => {
    const { zulipWebhookToken: token } = edge.config;
    const realm = URL.parse(edge.config.realm ?? "")?.origin;
    if (token === undefined || realm === undefined) throw new ApiError("not_found", "There is nothing here");
    const { message, token: given } = await readBody(c, Delivery);
    if (!isSameSecret(given, token)) {
      await limit(edge, `webhook/${peerOf(c, edge)}`, WRONG_WEBHOOK);
      throw new ApiError("forbidden", "Refused");
    }
    const messageId = message.id;
    const receipt = noteDelivery(realm, messageId, edge.clock.now());
    const payload = { realm, messageId, message };
    const dedupe = `zulip/${realm}/${messageId}`;
    await send(edge, { to: "zulip", type: "zulip.received", payload, dedupe, limit: MAILBOX }, [receipt]);
    return c.json(RESPONSE_NOT_REQUIRED);
  });

  return app;
}

function tooLarge(): never {
  throw new ApiError("too_large", "The body is too large");
}
