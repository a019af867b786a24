/**
 * The fake server's remote control: JSON over HTTP, and a page to type on as a Zulip user.
 *
 * `POST /_control/<act>` does what the method of `FakeZulip` of that name does, so that another process can drive the realm; `GET /_control/state` shows
 * it; `GET /_page` is for people. Acts answer `{ok: true, …}`, or 400 with `{ok: false, error}`.
 */
import * as z from "zod";
import type { FakeReply, FakeRequest } from "./http_server.ts";
import type { FakeZulip } from "./mod.ts";
import { PAGE } from "./page.ts";
import { messageShape } from "./shapes.ts";
import type { FakeMessage } from "./world.ts";

const who = z.union([z.string(), z.number()]);
const op = z.string();
const times = z.number().int().positive().default(1);
const place = { channel: who, topic: z.string() };

function act<S extends z.ZodType>(schema: S, run: (fake: FakeZulip, args: z.output<S>) => unknown) {
  return async (fake: FakeZulip, body: unknown): Promise<unknown> => await run(fake, schema.parse(body));
}

const ACTS = new Map(Object.entries({
  say: act(z.object({ user: who, ...place, text: z.string() }), (fake, a) => ({
    id: fake.say(a.user, a.channel, a.topic, a.text).id,
  })),
  dm: act(z.object({ from: who, to: z.array(who).min(1), text: z.string() }), (fake, a) => ({
    id: fake.dm(a.from, a.to, a.text).id,
  })),
  edit: act(
    z.object({ user: who, id: z.number(), text: z.string() }),
    (fake, a) => fake.edit(a.user, a.id, a.text),
  ),
  delete: act(z.object({ user: who, id: z.number() }), (fake, a) => fake.delete(a.user, a.id)),
  react: act(
    z.object({ user: who, id: z.number(), emoji: z.string() }),
    (fake, a) => fake.react(a.user, a.id, a.emoji),
  ),
  unreact: act(
    z.object({ user: who, id: z.number(), emoji: z.string() }),
    (fake, a) => fake.unreact(a.user, a.id, a.emoji),
  ),
  renameTopic: act(z.object({ user: who, ...place, to: z.string() }), (fake, a) => ({
    ids: fake.renameTopic(a.user, a.channel, a.topic, a.to),
  })),
  resolveTopic: act(z.object({ user: who, ...place }), (fake, a) => ({
    ids: fake.resolveTopic(a.user, a.channel, a.topic),
  })),
  moveTopic: act(
    z.object({ user: who, ...place, toChannel: who, toTopic: z.string().optional() }),
    (fake, a) => ({
      ids: fake.moveTopic(a.user, a.channel, a.topic, {
        channel: a.toChannel,
        ...(a.toTopic === undefined ? {} : { topic: a.toTopic }),
      }),
    }),
  ),
  addUser: act(z.object({ name: z.string(), channels: z.array(who).default([]) }), (fake, a) => ({
    id: fake.addUser(a.name, { channels: a.channels }).id,
  })),
  addChannel: act(
    z.object({
      name: z.string(),
      isPrivate: z.boolean().default(false),
      subscribers: z.array(who).default([]),
    }),
    (fake, a) => ({
      id: fake.addChannel(a.name, a).id,
    }),
  ),
  subscribe: act(z.object({ user: who, channel: who }), (fake, a) => fake.subscribe(a.user, a.channel)),
  unsubscribe: act(z.object({ user: who, channel: who }), (fake, a) => fake.unsubscribe(a.user, a.channel)),
  heartbeat: act(z.object({}), (fake) => fake.heartbeat()),
  loseQueues: act(z.object({}), (fake) => fake.loseQueues()),
  dropNextResponse: act(z.object({ op, times }), (fake, a) => fake.dropNextResponse(a.op, a.times)),
  dropNextRequest: act(z.object({ op, times }), (fake, a) => fake.dropNextRequest(a.op, a.times)),
  hangNextResponse: act(z.object({ op, times }), (fake, a) => fake.hangNextResponse(a.op, a.times)),
  rateLimitNext: act(
    z.object({ op, seconds: z.number(), times }),
    (fake, a) => fake.rateLimitNext(a.op, a.seconds, a.times),
  ),
  failNext: act(
    z.object({ op, status: z.number().default(502), stored: z.boolean().default(false), times }),
    (fake, a) => fake.failNext(a.op, a),
  ),
  clearFaults: act(z.object({}), (fake) => fake.clearFaults()),
  messages: act(z.object({ channel: who, topic: z.string().optional() }), (fake, a) => ({
    messages: fake.messagesIn(a.channel, a.topic).map((m) => shown(fake, m)),
  })),
  requests: act(z.object({ op: op.optional() }), (fake, a) => ({
    requests: a.op === undefined ? fake.requests : fake.requestsTo(a.op),
  })),
  /** Waits for a message of the bot that holds `text`, and gives it. */
  waitForBot: act(
    z.object({ ...place, text: z.string(), ms: z.number().default(10_000) }),
    async (fake, a) => ({
      message: shown(
        fake,
        await fake.until(
          () =>
            fake.messagesIn(a.channel, a.topic).find((m) =>
              m.senderId === fake.bot.id && m.content.includes(a.text)
            ),
          a.ms,
        ),
      ),
    }),
  ),
  deliverWebhook: act(
    z.object({ url: z.url(), token: z.string(), id: z.number(), times }),
    async (fake, a) => ({
      answers: await fake.deliverWebhook(a.url, a.token, fake.message(a.id), a.times),
    }),
  ),
}));

/** Answers everything outside `/api/v1`. */
export async function control(fake: FakeZulip, request: FakeRequest): Promise<FakeReply> {
  if (request.method === "GET" && (request.path === "/_page" || request.path === "/")) {
    return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: PAGE };
  }
  if (request.method === "GET" && request.path === "/_control/state") return json(200, stateOf(fake));
  const run = ACTS.get(request.path.replace(/^\/_control\//, ""));
  if (request.method !== "POST" || !run) return json(404, { ok: false, error: "no such act" });
  try {
    const result = await run(fake, JSON.parse(request.body === "" ? "{}" : request.body));
    return json(200, { ok: true, ...(typeof result === "object" ? result : {}) });
  } catch (error) {
    return json(400, { ok: false, error: error instanceof Error ? error.message : String(error) });
  }
}

function json(status: number, body: unknown): FakeReply {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

function shown(fake: FakeZulip, message: FakeMessage): unknown {
  return messageShape(fake.world, message, { applyMarkdown: false, emptyTopicName: true });
}

function stateOf(fake: FakeZulip): unknown {
  return {
    users: [...fake.world.users.values()].map((u) => ({
      id: u.id,
      fullName: u.fullName,
      email: u.email,
      isBot: u.isBot,
    })),
    channels: [...fake.world.channels.values()].map((c) => ({
      id: c.id,
      name: c.name,
      isPrivate: c.isPrivate,
      subscribers: [...c.subscribers],
    })),
    messages: [...fake.world.messages.values()].map((message) => shown(fake, message)),
    queues: fake.world.queues.size,
    waitingPolls: fake.waitingPolls,
  };
}
