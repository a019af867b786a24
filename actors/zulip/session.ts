/**
 * What the gateway knows of its realm: who it is, who else is there, which queue is its own, what is the newest message, and the journal of
 * topics. One object that the gateway's parts share; only `meet` talks to Zulip. Proven by `gateway_test.ts`.
 */
import { backoffMs } from "../../lib/backoff.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Effects, GatewayContext } from "../../runtime/actor.ts";
import type { TopicRow } from "../../store/reads/zulip.ts";
import type { ZulipClient } from "../../zulip/client.ts";
import { ZulipError } from "../../zulip/errors.ts";
import type { EventCursor } from "../../zulip/event_loop.ts";
import type { User } from "../../zulip/wire/register.ts";
import type { ZulipConfig } from "./config.ts";
import { Journal } from "./journal.ts";
import { Roster } from "./roster.ts";

/** What the composition hands in. */
export interface ZulipGatewayDeps {
  readonly config: ZulipConfig;
  readonly client: ZulipClient;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Start {
  readonly topics: readonly TopicRow[];
  readonly mark: number | null;
  readonly cursor: EventCursor | null;
}

/** One incarnation's view of one realm. */
export class Session {
  readonly realm: string;
  readonly roster: Roster;
  journal: Journal;
  bot: User | undefined;
  queueId: string | null = null;
  /** In code points. */
  maxMessageLength = 10_000;
  /** Newest message that the queue's way has handled; null before the very first start. */
  mark: number | null = null;
  /** Newest message that anything has shown us. */
  newestId = 0;

  constructor(readonly deps: ZulipGatewayDeps, readonly context: GatewayContext) {
    this.realm = new URL(deps.config.site).origin;
    this.roster = new Roster(deps.config.channels);
    this.journal = new Journal(this.realm, []);
  }

  /** Reads what earlier incarnations left; gives the queue to resume, if there is one. */
  async load(): Promise<EventCursor | null> {
    // `store/reads/zulip.ts` declares this read's answer.
    const loaded = await this.context.read("zulip.start", { realm: this.realm }) as Start;
    this.journal = new Journal(this.realm, loaded.topics);
    this.mark = loaded.mark;
    this.newestId = loaded.mark ?? 0;
    return loaded.cursor;
  }

  /** Who we are, who else is there, and which channels are served; tried until it works, since nothing can be judged without it. */
  async meetWhenPossible(): Promise<void> {
    for (let tries = 0;; tries++) {
      try {
        return await this.meet();
      } catch (error) {
        if (!(error instanceof ZulipError)) throw error;
        const waitMs = error.failure.kind === "rate_limited"
          ? error.failure.retryAfterMs
          : backoffMs(tries, { baseMs: 500, capMs: 30_000, random: this.deps.random });
        this.context.log("error", "cannot reach Zulip yet", { cause: error.message, waitMs });
        await sleep(this.deps.clock, waitMs, this.context.signal);
      }
    }
  }

  /** Reads people and channels anew. Rejects with `ZulipError`. */
  async meet(): Promise<void> {
    const { client, config } = this.deps;
    const [me, users, subscriptions, visible] = await Promise.all([
      client.me(),
      client.users(),
      client.subscriptions(),
      client.streams(),
    ]);
    this.bot = me;
    const missing = this.roster.reset(users, subscriptions, visible);
    if (missing.length > 0) {
      this.context.log("error", "ZULIP_CHANNELS names channels that the bot cannot see", {
        channels: missing.join(", "),
      });
    }
    this.context.log("info", "connected to Zulip", {
      bot: me.fullName,
      channels: this.roster.served().length,
      dms: config.dms,
    });
  }

  /** Takes note of a message id. */
  saw(messageId: number): void {
    this.newestId = Math.max(this.newestId, messageId);
  }

  /** Commits, or throws: the event is then tried again, and after that the process. */
  async must(effects: Effects): Promise<void> {
    const committed = await this.context.commit(effects);
    if (!committed.ok) throw new Error(`not committed: ${committed.error.code}: ${committed.error.message}`);
  }
}
