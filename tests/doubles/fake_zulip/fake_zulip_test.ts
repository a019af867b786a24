import assert from "node:assert/strict";
import { loadZulipSpec, zulipExamples, zulipSpecTest } from "../../zulip_spec.ts";
import { openApi } from "../../openapi.ts";
import { createZulipClient } from "../../../zulip/client.ts";
import { WebhookPayload } from "../../../zulip/wire/webhook.ts";
import { FakeZulip } from "./mod.ts";

/** Runs against a served fake with a client for its bot. */
async function withFake(
  run: (fake: FakeZulip, url: string, client: ReturnType<typeof createZulipClient>) => Promise<void>,
  options: ConstructorParameters<typeof FakeZulip>[0] = {},
): Promise<void> {
  const fake = new FakeZulip(options);
  const server = await fake.start();
  const client = createZulipClient({ site: server.url, email: fake.bot.email, apiKey: fake.bot.apiKey });
  try {
    await run(fake, server.url, client);
  } finally {
    client.close();
    await server.stop();
  }
}

const LONG = { timeoutMs: 20_000 };

zulipSpecTest(
  "fake zulip answers and events are what Zulip's specification allows",
  () =>
    withFake(async (fake, url, client) => {
      const spec = openApi(loadZulipSpec());
      const queue = await client.register({ idleQueueSeconds: 3_600 });
      const old = await callApi(fake, url, "/register", { event_types: "null" });

      const say = fake.say(fake.hamlet, "general", "plans", "@**Callboard** hello");
      fake.dm(fake.iago, [fake.bot, fake.hamlet], "a group");
      const { id } = await client.sendMessage({
        to: { channelId: 1, topic: "plans" },
        content: "hi",
        localId: "7",
        queueId: queue.queueId,
      });
      const { id: dm } = await client.sendMessage({ to: { userIds: [fake.iago.id] }, content: "psst" });
      await client.editMessage(id, "hi again");
      await client.editMessage(dm, "psst again");
      await client.addReaction(say.id, { name: "eyes" });
      await client.removeReaction(say.id, { name: "eyes" });
      fake.react(fake.hamlet, id, "+1");
      fake.typing(fake.hamlet, "general", "plans");
      await client.setTyping("start", { channelId: 1, topic: "plans" });
      await client.setTyping("start", { userIds: [fake.iago.id] });
      fake.renameTopic(fake.hamlet, "general", "plans", "plans B");
      fake.resolveTopic(fake.hamlet, "general", "plans B");
      fake.moveTopic(fake.hamlet, "general", "✔ plans B", { channel: "ops", notify: true });
      fake.moveTopic(fake.hamlet, "ops", "✔ plans B", { topic: "" });
      fake.renderPreview(id);
      await client.deleteMessage(id);
      await client.deleteMessage(dm);
      fake.subscribe(fake.bot, fake.addChannel("new", { subscribers: [fake.hamlet] }));
      fake.unsubscribe(fake.bot, "new");
      fake.renameChannel("new", "newer");
      const user = fake.addUser("Yorick", { channels: ["general"] });
      fake.deactivate(user);
      fake.upgrade("11.5", 421);
      fake.heartbeat();
      for (
        const read of [
          client.users(),
          client.me(),
          client.subscriptions(),
          client.streams(),
          client.serverSettings(),
        ]
      ) await read;
      await client.getMessages({ anchor: "newest", numBefore: 10, numAfter: 0 });
      await client.getMessage(say.id);
      await client.getMessage(id);
      await client.getEvents(queue, LONG);
      await callApi(fake, url, "/users/me/2/topics", null);
      await callApi(fake, url, "/events?queue_id=" + old.queue_id + "&last_event_id=-1", null);
      await refused(client.sendMessage({ to: { channelId: 99, topic: "x" }, content: "x" }));
      await refused(client.sendMessage({ to: { channelId: 1, topic: "x" }, content: " " }));
      await refused(client.addReaction(say.id, { name: "no_such_emoji" }));
      await refused(client.editMessage(say.id, "not mine"));
      await client.deleteQueue(queue.queueId);
      await refused(client.getEvents(queue, LONG));
      fake.rateLimitNext("GET /users", 29);
      await refused(client.users());

      const complaints: string[] = [];
      const types = new Set<unknown>();
      for (const call of fake.requests) {
        assert.ok(call.outcome && typeof call.outcome === "object", call.op);
        complaints.push(
          ...spec.checkResponse(call.op, call.outcome.status, withoutEvents(call.outcome.body)),
        );
        for (const event of eventsOf(call.outcome.body)) {
          // Real, and missing from the specification.
          const { local_message_id: _, ...rest } = event;
          complaints.push(...spec.checkEvent(rest));
          types.add(event["type"]);
        }
      }
      assert.deepEqual(complaints, []);
      assert.deepEqual([...types].sort(), [
        "delete_message",
        "heartbeat",
        "message",
        "reaction",
        "realm_user",
        "restart",
        "stream",
        "subscription",
        "typing",
        "update_message",
      ]);
      assert.equal(new Set(fake.requests.map((call) => call.op)).size, 17);
    }),
);

zulipSpecTest("the specification check accepts every official sample and refuses a wrong one", () => {
  const spec = openApi(loadZulipSpec());

  for (const { name, json } of zulipExamples("events")) assert.deepEqual(spec.checkEvent(json), [], name);
  assert.ok(spec.checkEvent({ type: "message", id: 1, flags: [], message: { id: "1" } }).length > 0);
  assert.ok(spec.checkEvent({ type: "heartbeat", id: 1, surprise: true }).length > 0);
  assert.ok(spec.checkResponse("POST /messages", 200, { result: "success", msg: "" }).length > 0);
  assert.throws(() => spec.checkResponse("POST /nothing", 200, {}), RangeError);
});

/** A call as Hamlet: a POST of a form, or a GET without one. */
async function callApi(fake: FakeZulip, url: string, path: string, form: Record<string, string> | null) {
  const authorization = `Basic ${btoa(`${fake.hamlet.email}:${fake.hamlet.apiKey}`)}`;
  const init = form ? { method: "POST", body: new URLSearchParams(form) } : {};
  return await (await fetch(`${url}/api/v1${path}`, { ...init, headers: { authorization } })).json();
}

async function refused(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, { name: "ZulipError" });
}

function eventsOf(body: unknown): Record<string, unknown>[] {
  return typeof body === "object" && body !== null && "events" in body && Array.isArray(body.events)
    ? body.events
    : [];
}

/** The events are checked one by one, so that a complaint names the event. */
function withoutEvents(body: unknown): unknown {
  return eventsOf(body).length > 0 && typeof body === "object" ? { ...body, events: [] } : body;
}

Deno.test("fake zulip queue: a poll waits, acknowledges, refuses strange cursors, and ends when another comes", () =>
  withFake(async (fake, _url, client) => {
    const queue = await client.register();
    const waiting = client.getEvents(queue, LONG);
    await fake.until(() => fake.waitingPolls === 1);
    fake.say(fake.hamlet, "general", "t", "one");
    const [first] = await waiting;
    assert.ok(typeof first === "object" && first !== null && "id" in first && first.id === 0);

    const displaced = client.getEvents({ ...queue, lastEventId: 0 }, LONG);
    await fake.until(() => fake.waitingPolls === 1);
    assert.deepEqual(await client.getEvents({ ...queue, lastEventId: 0 }, { ...LONG, dontBlock: true }), []);
    assert.deepEqual(await displaced, []);

    await assert.rejects(
      client.getEvents(queue, LONG),
      /BAD_REQUEST: An event newer than -1 has already been pruned!/,
    );
    await assert.rejects(
      client.getEvents({ ...queue, lastEventId: 9 }, LONG),
      /Event 9 was not in this queue/,
    );
  }));

Deno.test("fake zulip hides private channels and others' direct messages", () =>
  withFake(async (fake, _url, client) => {
    const queue = await client.register();
    const secret = fake.say(fake.hamlet, "vault", "t", "secret");
    const dm = fake.dm(fake.hamlet, [fake.iago], "psst");

    assert.deepEqual(await client.getEvents(queue, { ...LONG, dontBlock: true }), []);
    assert.equal(await client.getMessage(secret.id), null);
    assert.equal(await client.getMessage(dm.id), null);
    await assert.rejects(
      client.sendMessage({ to: { channelId: fake.vault.id, topic: "t" }, content: "x" }),
      /Not authorized/,
    );
  }));

Deno.test("fake zulip lets an idle queue die", async () => {
  let now = 1_800_000_000_000;
  await withFake(async (_fake, _url, client) => {
    const queue = await client.register();
    now += 599_000;
    await client.getEvents(queue, { ...LONG, dontBlock: true });
    now += 600_000;

    await assert.rejects(client.getEvents(queue, LONG), /no longer exists/);
  }, { now: () => now });
});

Deno.test("fake zulip edits and deletes only within the limits", async () => {
  let now = 1_800_000_000_000;
  await withFake(async (fake, _url, client) => {
    const { id } = await client.sendMessage({ to: { channelId: 1, topic: "t" }, content: "hi" });
    now += 620_000;
    await client.editMessage(id, "in the grace time");
    now += 1_000;

    await assert.rejects(client.editMessage(id, "late"), /time limit for editing/);
    await assert.rejects(client.deleteMessage(id), /time limit for deleting/);
    assert.equal(fake.message(id).content, "in the grace time");
    assert.deepEqual(fake.message(id).history.map((entry) => entry.prevContent), ["hi"]);
  }, { now: () => now });
});

Deno.test("fake zulip delivers an outgoing webhook as often as told", async () => {
  const received: unknown[] = [];
  const sink = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    received.push(await request.json());
    return Response.json({ response_not_required: true });
  });
  const fake = new FakeZulip();
  const message = fake.say(fake.hamlet, "general", "t", "@**Callboard** hi");

  const answers = await fake.deliverWebhook(`http://127.0.0.1:${sink.addr.port}/`, "secret", message, 4);

  await sink.shutdown();
  assert.deepEqual(answers.map((answer) => answer.status), [200, 200, 200, 200]);
  const payload = WebhookPayload.parse(received[3]);
  assert.deepEqual([payload.token, payload.trigger, payload.message.id], ["secret", "mention", message.id]);
});

Deno.test("fake zulip runs as a process, is driven over HTTP and shows a page", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--allow-net=127.0.0.1",
      new URL("main.ts", import.meta.url).pathname,
      "--until-stdin-ends",
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const started = JSON.parse((await lines.read()).value ?? "");
  const act = async (name: string, body: unknown) => {
    const response = await fetch(`${started.url}/_control/${name}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: response.status, ...await response.json() };
  };

  const said = await act("say", { user: "King Hamlet", channel: "ops", topic: "t", text: "hello" });
  const { messages } = await act("messages", { channel: "ops", topic: "T" });
  const refusal = await act("say", { user: "Nobody", channel: "ops", topic: "t", text: "hello" });
  const page = await (await fetch(started.page)).text();

  assert.deepEqual(messages.map((m: { id: number; content: string }) => [m.id, m.content]), [[
    said.id,
    "hello",
  ]]);
  assert.deepEqual([refusal.status, refusal.ok], [400, false]);
  assert.ok(page.includes("<title>Fake Zulip</title>"));
  await child.stdin.close();
  await lines.cancel();
  assert.equal((await child.status).code, 0);
});
