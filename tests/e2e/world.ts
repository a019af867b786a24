/**
 * A whole installation for a test: the real supervisor as a child process on a fresh data folder, a fake Zulip and a fake model on loopback, and
 * a signed-in client. `kill` and `restart` do what a bad night does.
 */
import assert from "node:assert/strict";
import type { ActorView, Item, Me } from "../../edge/api.ts";
import { FakeModel } from "../doubles/fake_model/fake_model.ts";
import { FakeZulip } from "../doubles/fake_zulip/mod.ts";
import { startSupervisor, type SupervisorProcess } from "../supervisor_process.ts";

/** Signs in at the web page too. */
export const OWNER_TOKEN = "owner-token-for-tests-0123456789abcdef";
export const WEBHOOK_TOKEN = "webhook-token-for-tests";
const GIVE_UP_MS = 40_000;
const ASK_EVERY_MS = 25;

/** What may differ from the common set-up. */
export interface WorldOptions {
  /** More of `callboard.json`. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Fills the data folder before the first start. */
  readonly prepare?: (dataFolder: string) => Promise<void>;
}

/** One installation; dispose of it with `await using`. */
export class World {
  supervisor!: SupervisorProcess;
  #cookie = "";
  #csrf = "";

  private constructor(
    readonly zulip: FakeZulip,
    readonly model: FakeModel,
    readonly folder: string,
    readonly env: Readonly<Record<string, string>>,
    readonly stopZulip: () => Promise<void>,
  ) {}

  static async open(options: WorldOptions = {}): Promise<World> {
    const zulip = new FakeZulip();
    const server = await zulip.start();
    const model = FakeModel.start();
    const folder = await Deno.makeTempDir({ prefix: "callboard-e2e-" });
    const file = {
      ...options.file,
      zulip: { editIntervalMs: 100, editsPerMinute: 6_000, settleAfterMs: 700, approvers: "*" },
    };
    await Deno.writeTextFile(`${folder}/callboard.json`, JSON.stringify(file));
    const world = new World(zulip, model, folder, {
      CALLBOARD_DATA: `${folder}/data`,
      CALLBOARD_CONFIG: `${folder}/callboard.json`,
      OWNER_TOKEN,
      ZULIP_SITE: server.url,
      ZULIP_EMAIL: zulip.bot.email,
      ZULIP_API_KEY: zulip.bot.apiKey,
      ZULIP_CHANNELS: "general",
      ZULIP_WEBHOOK_TOKEN: WEBHOOK_TOKEN,
      MODEL: "anthropic/claude-test",
      ANTHROPIC_API_KEY: "key-for-tests-0123456789",
      ANTHROPIC_BASE_URL: model.url,
      ...options.env,
    }, () => server.stop());
    await options.prepare?.(`${folder}/data`);
    await world.start();
    await zulip.until(() => zulip.waitingPolls > 0, GIVE_UP_MS);
    return world;
  }

  /** Starts the supervisor (again) and signs in. */
  async start(): Promise<void> {
    await this.use(await startSupervisor(this.env, { echo: Deno.env.get("E2E_ECHO") !== undefined }));
  }

  /** Signs in at this supervisor, from now on the one that is spoken with. */
  async use(supervisor: SupervisorProcess): Promise<void> {
    this.supervisor = supervisor;
    const response = await fetch(`${this.supervisor.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: OWNER_TOKEN }),
    });
    assert.equal(response.status, 201, await response.text());
    this.#cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    this.#csrf = (await this.get<Me>("/api/me")).csrf;
  }

  /** Ends the supervisor by a signal and starts it again. */
  async restart(signal: Deno.Signal): Promise<void> {
    await this.supervisor.stop(signal);
    await this.start();
  }

  /** Kills the process that runs an actor, as the kernel's out-of-memory killer would. */
  async kill(ref: string): Promise<void> {
    const actor = (await this.actors()).find((view) => view.ref === ref);
    assert.ok(actor?.pid, `${ref} runs in a process`);
    Deno.kill(actor.pid, "SIGKILL");
  }

  async actors(): Promise<ActorView[]> {
    return (await this.get<{ actors: ActorView[] }>("/api/actors")).actors;
  }

  /** Resolves with the first waiting item that `wanted` accepts. */
  async waiting(wanted: (item: Item) => boolean = () => true): Promise<Item> {
    return await this.until(async () => {
      const { items } = await this.get<{ items: Item[] }>("/api/inbox?state=waiting");
      return items.find(wanted);
    });
  }

  async decide(
    item: Item,
    decision: string,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Response> {
    return await this.send(`/api/inbox/${item.id}/decision`, { version: item.version, decision, ...more });
  }

  async get<T>(path: string): Promise<T> {
    const response = await fetch(this.supervisor.url + path, { headers: { cookie: this.#cookie } });
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    return await response.json();
  }

  /** Sends JSON. The answer is read whole, so that a test which looks at its status alone leaves nothing open. */
  async send(path: string, body: unknown, method = "POST"): Promise<Response> {
    const response = await fetch(this.supervisor.url + path, {
      method,
      headers: { "content-type": "application/json", cookie: this.#cookie, "x-callboard-csrf": this.#csrf },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return new Response(text === "" ? null : text, { status: response.status });
  }

  /** Asks until the answer is there; what happens in other processes is seen by looking. Rejects after half a minute with the supervisor's log. */
  async until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const found = await ask();
      if (found) return found;
      if (Date.now() > giveUpAt) throw new Error(`still not so: ${ask}\n${this.supervisor.output()}`);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  }

  /** The bot's messages in a topic that are no cards and no cards' buttons, oldest first. */
  answers(topic: string): string[] {
    return this.zulip.messagesIn("general", topic)
      .filter(({ senderId, content }) =>
        senderId === this.zulip.bot.id && !isCard(content) && !isButtons(content)
      )
      .map(({ content }) => content);
  }

  /** The cards in a topic, oldest first. */
  cards(topic: string): { readonly id: number; readonly content: string }[] {
    return this.zulip.messagesIn("general", topic)
      .filter(({ senderId, content }) => senderId === this.zulip.bot.id && isCard(content));
  }

  /** Resolves when no mailbox holds anything: whatever was to happen has happened. */
  async quiet(): Promise<void> {
    await this.until(async () =>
      (await this.actors()).every(({ mailbox }) => mailbox.control + mailbox.normal === 0)
    );
  }

  /** Resolves when a topic holds the answer and nothing in it is streamed any more. */
  async answered(topic: string, wanted: RegExp): Promise<string> {
    try {
      return await this.zulip.until(() => {
        const answers = this.answers(topic);
        return !answers.some((text) => text.includes("*(…)*")) && answers.find((text) => wanted.test(text));
      }, GIVE_UP_MS);
    } catch (error) {
      const said = this.zulip.messagesIn("general", topic).map(({ content }) => content);
      throw new Error(`${error}\nin the topic: ${JSON.stringify(said)}\n${this.supervisor.output()}`);
    }
  }

  /** A file of a conversation's workspace, or undefined. */
  async workspaceFile(conversation: string, name: string): Promise<string | undefined> {
    return await Deno.readTextFile(this.workspacePath(conversation, name)).catch(() => undefined);
  }

  workspacePath(conversation: string, name: string): string {
    return `${this.folder}/data/workspaces/${conversation}/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor.stop("SIGTERM");
    await this.stopZulip();
    await this.model.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** The words under a card's buttons. */
export function isButtons(content: string): boolean {
  return content.startsWith("Decide the card above");
}

function isCard(content: string): boolean {
  return /^\*\*(🔔|✅|⛔|⌛|➖|⚠️ Decided|❓)/u.test(content);
}
