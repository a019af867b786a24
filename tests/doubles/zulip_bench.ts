/**
 * The real Zulip gateway on a real database file, talking to the fake server over loopback. `crash` ends it without a word and starts another.
 */
import { zulipGateway } from "../../actors/zulip/gateway.ts";
import type { ZulipConfig } from "../../actors/zulip/config.ts";
import type { TopicAnswer } from "../../actors/protocol/zulip.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Gateway } from "../../runtime/actor.ts";
import { bootstrap } from "../../store/migrate.ts";
import { openDb } from "../../store/open.ts";
import { createZulipClient } from "../../zulip/client.ts";
import { FakeZulip } from "./fake_zulip/mod.ts";
import { GatewayContextDouble } from "./gateway_context.ts";

/** The bench. Close it with `await using`. */
export class ZulipBench implements AsyncDisposable {
  context!: GatewayContextDouble;
  gateway!: Gateway;

  private constructor(
    readonly fake: FakeZulip,
    readonly site: string,
    readonly folder: string,
    readonly db: Awaited<ReturnType<typeof openDb>>,
    readonly config: Partial<ZulipConfig>,
    readonly ahead: { ms: number },
    readonly stopServer: () => Promise<void>,
  ) {}

  static async open(config: Partial<ZulipConfig> = {}): Promise<ZulipBench> {
    const ahead = { ms: 0 };
    const fake = new FakeZulip({ now: () => Date.now() + ahead.ms });
    const server = await fake.start();
    const folder = await Deno.makeTempDir();
    const db = await openDb({ url: `file:${folder}/test.db` });
    await bootstrap(db);
    const bench = new ZulipBench(fake, server.url, folder, db, config, ahead, () => server.stop());
    await bench.start();
    return bench;
  }

  async start(): Promise<void> {
    const { fake, site } = this;
    const config: ZulipConfig = {
      site,
      email: fake.bot.email,
      apiKey: fake.bot.apiKey,
      channels: ["general"],
      allowedUserIds: [],
      dms: true,
      providers: [{ name: "anthropic", models: "any" }],
      buttons: false,
      editIntervalMs: 50,
      editsPerMinute: 6_000,
      settleAfterMs: 400,
      inboxUrl: "http://inbox.test",
      ...this.config,
    };
    this.context = new GatewayContextDouble("zulip", this.db, config);
    this.gateway = zulipGateway(() => ({
      config,
      // Short, since one test leaves a call unanswered.
      client: createZulipClient({
        timeoutMs: 2_000,
        site,
        email: config.email,
        apiKey: config.apiKey,
        clock: systemClock,
      }),
      clock: systemClock,
      random: () => 0,
    }));
    await this.gateway.start(this.context);
    await fake.until(() => fake.waitingPolls > 0);
  }

  async crash(): Promise<void> {
    this.context.stop();
    await this.gateway.stop?.();
    await this.fake.until(() => this.fake.waitingPolls === 0);
    await this.start();
  }

  /** A turn as the conversation sees it: the message that reached it. */
  async heard(text: string): Promise<{ conversation: string; messageId: number; addressed: boolean }> {
    const send = await this.context.until(({ type, payload }) =>
      type === "conversation.message" && (payload as { text: string }).text === text
    );
    const payload = send.payload as { messageId: number; addressed: boolean };
    return { conversation: send.to.replace("conversation/", ""), ...payload };
  }

  async answer(
    conversation: string,
    answer: Partial<TopicAnswer> & { turnId: string; text: string },
  ): Promise<void> {
    await this.gateway.handle(
      this.context.delivery({
        type: "topic.answer",
        from: `conversation/${conversation}`,
        payload: { status: "complete", silent: false, ...answer },
      }),
    );
  }

  /** Lets the realm's clock go on. */
  later(ms: number): void {
    this.ahead.ms += ms;
  }

  /** Has a card shown, or brought up to date. */
  async show(item: Readonly<Record<string, unknown>>): Promise<void> {
    await this.gateway.handle(this.context.delivery({ type: "card.show", from: "approval", payload: item }));
  }

  /** What the bot's messages in a topic say. */
  said(topic: string, channel = "general"): string[] {
    return this.fake.messagesIn(channel, topic).filter(({ senderId }) => senderId === this.fake.bot.id).map((
      { content },
    ) => content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.context.stop();
    await this.gateway.stop?.();
    await this.stopServer();
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}
