/**
 * The push gateway: brings what waits to the devices of those who may decide it, one message a device, and says there when it is over. Whether a
 * message still is worth sending is looked up when it is sent. A message that may have been sent before a crash is sent again: it has the same topic
 * and tag, so it takes the other's place. It decides nothing and is told nothing of what a call does. Proven by `gateway_test.ts`.
 */
import { backoffMs } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { sha256Hex } from "../../lib/digest.ts";
import type { PushNotice } from "../../lib/push_notice.ts";
import type { Delivery, Effects, Envelope, Gateway, GatewayContext, Send } from "../../runtime/actor.ts";
import type { Op } from "../../store/ops.ts";
import type { PushedItemRow, SubscriptionRow } from "../../store/reads/push.ts";
import type { Message } from "../protocol.ts";
import type { PushDeliver, PushItem, PushSettled, PushTest } from "../protocol/push.ts";
import { PushConfig } from "./config.ts";
import { noticeText } from "./notice_text.ts";
import { post, type Posted } from "./post.ts";

/** A message is tried so often at most. */
export const MAX_ATTEMPTS = 6;

const BACKOFF = { baseMs: 2_000, capMs: 300_000 };
const MAX_WAIT_MS = 3_600_000;
const POST_MS = 15_000;
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 86_400;
/** That something is over is soon not worth knowing. */
const SETTLED_TTL_SECONDS = 3_600;
/** Under this name the outcome of a device's last test is kept. */
export const TEST = "test";

/** What the gateway takes from the machine. */
export interface PushDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly random: () => number;
  readonly fetch: typeof fetch;
  readonly close: () => void;
}

/** The gateway, as `runtime/gateway_host.ts` runs it. */
export function createPushGateway(deps: PushDeps): Gateway {
  let pusher: Pusher | undefined;
  return {
    start(context) {
      pusher = new Pusher(context, PushConfig.parse(context.config), deps);
      return Promise.resolve();
    },
    keyOf: ({ payload }) => keyOf(payload),
    handle(delivery) {
      if (!pusher) throw new TypeError("a message came before the start");
      return pusher.handle(delivery);
    },
    stop() {
      deps.close();
      return Promise.resolve();
    },
  };
}

/** Messages to one browser keep their order. */
function keyOf(payload: unknown): string {
  // Parsed by the supervisor against the catalogue.
  const { subscriptionId, itemId } = payload as {
    readonly subscriptionId?: string;
    readonly itemId?: string;
  };
  return subscriptionId ?? itemId ?? "";
}

class Pusher {
  constructor(
    readonly context: GatewayContext,
    readonly config: PushConfig,
    readonly deps: PushDeps,
  ) {}

  async handle(delivery: Delivery): Promise<Effects | void> {
    const message = typed(delivery.message);
    switch (message.type) {
      case "push.item":
        return await this.#tellWaiting(message.payload);
      case "push.settled":
        return await this.#tellSettled(message.payload);
      case "push.deliver":
        return await this.#deliver(delivery, message.payload);
      case "push.test":
        return await this.#test(delivery, message.payload);
      case "push.clicked":
        return { ops: [{ op: "push.clicked", ...message.payload }] satisfies Op[] };
      default:
        return;
    }
  }

  /** One message for each of their browsers, once for each reason. */
  async #tellWaiting({ itemId, version, userIds, key }: PushItem): Promise<Effects> {
    const ids = await this.context.read("push.devices", { userIds }) as string[]; // the read gives ids
    return {
      send: ids.map((subscriptionId) =>
        deliverOnce(key, { itemId, version, about: "waiting", subscriptionId, attempt: 0 })
      ),
    };
  }

  async #tellSettled({ itemId, version }: PushSettled): Promise<Effects> {
    const ids = await this.context.read("push.told", { itemId }) as string[]; // as above
    return { send: ids.map((subscriptionId) => settledOnce({ itemId, version, subscriptionId })) };
  }

  async #deliver(delivery: Delivery, payload: PushDeliver): Promise<Effects | void> {
    const { itemId, version, about, subscriptionId } = payload;
    const item = await this.#itemOf(itemId);
    if (!item) return;
    const isWaiting = item.state === "waiting";
    // Told of too late: it was decided, or offered anew, which is told of on its own.
    if (about === "waiting" ? !isWaiting || item.version !== version : isWaiting) return;
    const notice = {
      v: 1,
      about,
      itemId,
      tool: noticeText(item.tool ?? item.kind),
      conversation: noticeText(item.title),
    } as const;
    const ttlSeconds = about === "waiting" ? this.#ttlOf(item) : SETTLED_TTL_SECONDS;
    const posted = await this.#post(delivery, subscriptionId, { notice, topic: itemId, ttlSeconds });
    if (posted === undefined) return;
    if (posted.kind !== "sent") {
      return this.#unsent(posted, { subscriptionId, itemId, type: "push.deliver", payload });
    }
    if (about === "settled") return { ops: [outcome(itemId, subscriptionId, "settled")] };
    return {
      ops: [outcome(itemId, subscriptionId, "sent")],
      send: [{ to: "approval", type: "push.sent", payload: { itemId } }, ...await this.#overtaken(payload)],
    };
  }

  /** Whoever asked which devices had been told while this message was on its way did not count this one. */
  async #overtaken({ itemId, version, subscriptionId }: PushDeliver): Promise<Send[]> {
    const item = await this.#itemOf(itemId);
    if (!item || item.state === "waiting") return [];
    return [settledOnce({ itemId, version, subscriptionId })];
  }

  async #itemOf(itemId: string): Promise<PushedItemRow | null> {
    return await this.context.read("push.item", { itemId }) as PushedItemRow | null; // the read's own row
  }

  async #test(delivery: Delivery, payload: PushTest): Promise<Effects | void> {
    const { subscriptionId } = payload;
    const notice = { v: 1, about: "test" } as const;
    const ttlSeconds = MIN_TTL_SECONDS;
    const posted = await this.#post(delivery, subscriptionId, { notice, topic: TEST, ttlSeconds });
    if (posted === undefined) return;
    if (posted.kind === "sent") {
      return { ops: [outcome(TEST, subscriptionId, "sent")] };
    }
    return this.#unsent(posted, { subscriptionId, itemId: TEST, type: "push.test", payload });
  }

  /** Undefined: there is nobody to send to any more. */
  async #post(
    { started, signal }: Delivery,
    subscriptionId: string,
    { notice, topic, ttlSeconds }: {
      readonly notice: PushNotice;
      readonly topic: string;
      readonly ttlSeconds: number;
    },
  ): Promise<Posted | undefined> {
    // The read's own row.
    const to = await this.context.read("push.subscription", { subscriptionId }) as SubscriptionRow | null;
    if (!to) return undefined;
    const committed = await started({ subscriptionId });
    if (!committed.ok) return { kind: "later", reason: committed.error.code };
    if (!this.context.mayAct()) return { kind: "later", reason: "the lease may have passed on" };
    const slow = new AbortController();
    const cancel = this.deps.clock.after(POST_MS, () => slow.abort());
    try {
      return await post(to, {
        text: JSON.stringify(notice),
        topic: sha256Hex(topic).slice(0, 32),
        urgency: notice.about === "settled" ? "normal" : "high",
        ttlSeconds,
      }, {
        config: this.config,
        fetch: this.deps.fetch,
        now: () => this.deps.clock.now(),
        signal: AbortSignal.any([signal, slow.signal]),
      });
    } finally {
      cancel();
    }
  }

  /** What follows when a service did not take a message. */
  #unsent(
    posted: Exclude<Posted, { kind: "sent" }>,
    { subscriptionId, itemId, type, payload }: {
      readonly subscriptionId: string;
      readonly itemId: string;
      readonly type: "push.deliver" | "push.test";
      readonly payload: PushDeliver | PushTest;
    },
  ): Effects {
    const failed = outcome(itemId, subscriptionId, "failed");
    if (posted.kind === "gone") {
      this.context.log("info", "A browser takes no more messages", { subscriptionId });
      return { ops: [failed, { op: "push.blocked", subscriptionId }] satisfies Op[] };
    }
    const attempt = payload.attempt + 1;
    const isOver = posted.kind === "refused" || attempt >= MAX_ATTEMPTS;
    this.context.log("warn", isOver ? "A message was not sent" : "A message is sent later", {
      subscriptionId,
      reason: posted.reason,
    });
    if (isOver) return { ops: [failed] };
    const backoff = backoffMs(payload.attempt, { ...BACKOFF, random: this.deps.random });
    const waitMs = posted.kind === "later" ? posted.waitMs ?? 0 : 0;
    const notBefore = this.deps.clock.now() + Math.min(MAX_WAIT_MS, Math.max(waitMs, backoff));
    return { send: [{ to: "push", type, payload: { ...payload, attempt }, notBefore }] };
  }

  #ttlOf({ expiresAt }: PushedItemRow): number {
    const seconds = Math.floor(((expiresAt ?? Infinity) - this.deps.clock.now()) / 1000);
    return Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, seconds));
  }
}

function deliverOnce(key: string, payload: PushDeliver): Send {
  return { to: "push", type: "push.deliver", payload, dedupe: `push/${key}/${payload.subscriptionId}` };
}

/** An item is over once. */
function settledOnce(payload: Pick<PushDeliver, "itemId" | "version" | "subscriptionId">): Send {
  return deliverOnce(`settled/${payload.itemId}`, { ...payload, about: "settled", attempt: 0 });
}

function outcome(itemId: string, subscriptionId: string, state: "sent" | "failed" | "settled"): Op {
  return { op: "push.outcome", itemId, subscriptionId, state };
}

/** The supervisor has parsed the payload against the catalogue and checked who may say it. */
function typed(message: Envelope): Message {
  return message as Message;
}
