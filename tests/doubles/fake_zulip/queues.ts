/**
 * Event queues of the fake server, with a real long poll.
 *
 * As on a real server: a poll acknowledges everything up to its cursor; a cursor from the past or the future is refused; a second poll on one queue ends
 * the first with nothing; heartbeats have ids; an idle queue dies when nobody has polled it for its lifetime. Events are built for each queue, since what
 * they look like depends on what the client declared.
 */
import { ZulipRefusal } from "./world.ts";

export type EventBody = Record<string, unknown> & { readonly type: string };

export interface QueueOptions {
  readonly userId: number;
  /** Null: every type. */
  readonly eventTypes: readonly string[] | null;
  readonly applyMarkdown: boolean;
  readonly allPublicStreams: boolean;
  /** The client understands "" as a topic. */
  readonly emptyTopicName: boolean;
  readonly bulkDeletion: boolean;
  readonly idleSeconds: number;
}

export interface Queue extends QueueOptions {
  readonly id: string;
  events: (EventBody & { readonly id: number })[];
  /** Of the newest event ever put in. */
  newestId: number;
  prunedId: number;
  waiter: (() => void) | null;
  connectedAt: number;
}

export class EventQueues {
  readonly #queues = new Map<string, Queue>();
  readonly #now: () => number;
  readonly #changed: () => void;
  #held: (() => void)[] | null = null;

  constructor(now: () => number, changed: () => void) {
    this.#now = now;
    this.#changed = changed;
  }

  register(options: QueueOptions): Queue {
    const queue: Queue = {
      ...options,
      id: crypto.randomUUID(),
      events: [],
      newestId: -1,
      prunedId: -1,
      waiter: null,
      connectedAt: this.#now(),
    };
    this.#queues.set(queue.id, queue);
    return queue;
  }

  /** The user's live queue. */
  get(userId: number, queueId: string): Queue {
    const queue = this.#queues.get(queueId);
    const idle = queue && !queue.waiter && this.#now() - queue.connectedAt >= queue.idleSeconds * 1_000;
    if (idle) this.#queues.delete(queueId);
    if (!queue || idle || queue.userId !== userId) {
      throw new ZulipRefusal(`Bad event queue ID: ${queueId}`, {
        code: "BAD_EVENT_QUEUE_ID",
        extra: { queue_id: queueId },
      });
    }
    return queue;
  }

  get size(): number {
    return this.#queues.size;
  }

  /** Polls that wait right now. */
  get waiting(): number {
    return [...this.#queues.values()].filter((queue) => queue.waiter).length;
  }

  remove(queueId: string): void {
    this.#queues.get(queueId)?.waiter?.();
    this.#queues.delete(queueId);
  }

  /** As after a crash of the server: every queue is gone, and waiting polls are answered so. */
  loseAll(): void {
    const waiters = [...this.#queues.values()].map((queue) => queue.waiter);
    this.#queues.clear();
    for (const waiter of waiters) waiter?.();
    this.#changed();
  }

  /** Puts an event into each queue for which `build` gives one. */
  publish(type: string, build: (queue: Queue) => EventBody | null): void {
    const deliver = () => {
      for (const queue of this.#queues.values()) {
        if (type !== "heartbeat" && queue.eventTypes && !queue.eventTypes.includes(type)) continue;
        const event = build(queue);
        if (event) queue.events.push({ ...event, id: ++queue.newestId });
        if (event) queue.waiter?.();
      }
    };
    if (this.#held) this.#held.push(deliver);
    else deliver();
    this.#changed();
  }

  /** Keeps every event back until the returned function is called. */
  hold(): () => void {
    const held: (() => void)[] = this.#held ?? [];
    this.#held = held;
    return () => {
      if (this.#held !== held) return;
      this.#held = null;
      for (const deliver of held) deliver();
    };
  }

  /**
   * Acknowledges and reads. Waits for the first event unless `dontBlock`.
   *
   * @param gone settles when the client hangs up.
   */
  async poll(queue: Queue, lastEventId: number, options: { dontBlock: boolean; gone: Promise<void> }) {
    if (lastEventId < queue.prunedId) {
      throw new ZulipRefusal(`An event newer than ${lastEventId} has already been pruned!`);
    }
    if (lastEventId > queue.newestId) throw new ZulipRefusal(`Event ${lastEventId} was not in this queue`);
    queue.events = queue.events.filter((event) => event.id > lastEventId);
    queue.prunedId = Math.max(queue.prunedId, lastEventId);
    queue.waiter?.();
    queue.connectedAt = this.#now();
    if (queue.events.length === 0 && !options.dontBlock) await this.#wait(queue, options.gone);
    this.get(queue.userId, queue.id);
    return [...queue.events];
  }

  async #wait(queue: Queue, gone: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.waiter = resolve;
    this.#changed();
    await Promise.race([promise, gone]);
    if (queue.waiter === resolve) queue.waiter = null;
  }
}
