import assert from "node:assert/strict";
import { FakeClock } from "../tests/doubles/fake_clock.ts";
import { FakeZulip } from "../tests/doubles/fake_zulip/mod.ts";
import { createZulipClient, type ZulipClient } from "./client.ts";
import { ZulipError, type ZulipFailure } from "./errors.ts";
import { createHttp, type Fetch, type HttpOptions } from "./http.ts";
import { bodyHash, serverBody } from "./server_body.ts";
import { Done } from "./wire/register.ts";

interface Rig {
  readonly fake: FakeZulip;
  readonly client: ZulipClient;
  readonly clock: FakeClock;
}

/** A client of the fake's bot over real sockets, with a clock that stands still. */
function withClient(
  run: (rig: Rig) => Promise<void>,
  options: Partial<HttpOptions> = {},
): () => Promise<void> {
  return async () => {
    const fake = new FakeZulip();
    const server = await fake.start();
    const clock = new FakeClock();
    const client = createZulipClient({
      site: server.url,
      email: fake.bot.email,
      apiKey: fake.bot.apiKey,
      clock,
      ...options,
    });
    try {
      await run({ fake, client, clock });
      assert.equal(clock.pending, 0, "no timer is left behind");
    } finally {
      client.close();
      await server.stop();
    }
  };
}

async function failureOf(call: Promise<unknown>): Promise<ZulipError> {
  const error = await call.then(() => null, (e: unknown) => e);
  assert.ok(error instanceof ZulipError, `expected a ZulipError, received ${error}`);
  return error;
}

async function kindOf(call: Promise<unknown>): Promise<ZulipFailure["kind"]> {
  return (await failureOf(call)).failure.kind;
}

const to = { channelId: 1, topic: "t" };

Deno.test(
  "client sends a write once, even when the connection drops before the answer",
  withClient(async ({ fake, client }) => {
    const { id } = await client.sendMessage({ to, content: "first" });
    const doomed = await client.sendMessage({ to, content: "to be deleted" });
    const writes = [
      { op: "POST /messages", call: () => client.sendMessage({ to, content: "once" }) },
      { op: "PATCH /messages/{message_id}", call: () => client.editMessage(id, "edited") },
      { op: "POST /messages/{message_id}/reactions", call: () => client.addReaction(id, { name: "eyes" }) },
      { op: "DELETE /messages/{message_id}", call: () => client.deleteMessage(doomed.id) },
    ];
    for (const { op, call } of writes) {
      await client.me(); // a kept-alive connection, which a repeating client would use
      const before = fake.requestsTo(op).length;
      fake.dropNextResponse(op);

      const error = await failureOf(call());

      assert.deepEqual([error.failure.kind, error.outcomeUnknown], ["network", true], op);
      assert.equal(fake.requestsTo(op).length, before + 1, op);
    }
    assert.deepEqual(fake.messagesIn("general", "t").map((m) => m.content), ["edited", "once"]);
  }),
);

Deno.test(
  "client waits out a rate limit without another call, and polls meanwhile",
  withClient(async ({ fake, client, clock }) => {
    const queue = await client.register();
    fake.rateLimitNext("POST /messages", 2.5);

    assert.deepEqual((await failureOf(client.sendMessage({ to, content: "x" }))).failure, {
      kind: "rate_limited",
      retryAfterMs: 3_000,
    });
    await clock.advance(1_000);
    assert.deepEqual((await failureOf(client.me())).failure, { kind: "rate_limited", retryAfterMs: 2_000 });
    assert.equal(fake.requestsTo("GET /users/me").length, 0);
    assert.deepEqual(await client.getEvents(queue, { timeoutMs: 1, dontBlock: true }), []);

    await clock.advance(2_000);
    await client.sendMessage({ to, content: "x" });
  }),
);

Deno.test(
  "client gives up on a silent server and says that the outcome is unknown",
  withClient(async ({ fake, client, clock }) => {
    fake.hangNextResponse("POST /messages");
    const sending = failureOf(client.sendMessage({ to, content: "x" }));
    await fake.until(() => fake.requestsTo("POST /messages")[0]?.outcome === "hung");

    await clock.advance(30_000);

    const error = await sending;
    assert.deepEqual([error.failure, error.outcomeUnknown], [{ kind: "timeout", afterMs: 30_000 }, true]);
    assert.equal(fake.messagesIn("general", "t").length, 1);
  }),
);

Deno.test(
  "client abort ends a long poll at once and leaves nothing behind",
  withClient(async ({ fake, client }) => {
    const queue = await client.register();
    const controller = new AbortController();
    const polling = client.getEvents(queue, { timeoutMs: 110_000, signal: controller.signal });
    await fake.until(() => fake.waitingPolls === 1);

    controller.abort(new Error("shutdown"));

    await assert.rejects(polling, { message: "shutdown" });
    await fake.until(() => fake.waitingPolls === 0);
    await assert.rejects(client.getEvents(queue, { timeoutMs: 1, signal: controller.signal }), {
      message: "shutdown",
    });
  }),
);

Deno.test(
  "client tells the failures of a server apart",
  withClient(async ({ fake, client }) => {
    fake.failNext("GET /users/me", { status: 503, html: true });
    assert.equal(await kindOf(client.me()), "server");
    fake.failNext("POST /messages", { stored: true });
    assert.ok((await failureOf(client.sendMessage({ to, content: "x" }))).outcomeUnknown);
    assert.equal(
      await kindOf(client.getEvents({ queueId: "gone", lastEventId: -1 }, { timeoutMs: 1 })),
      "bad_event_queue",
    );
    assert.deepEqual(
      (await failureOf(client.sendMessage({ to: { ...to, channelId: 99 }, content: "x" }))).failure,
      {
        kind: "bad_request",
        status: 400,
        code: "STREAM_DOES_NOT_EXIST",
        msg: "Channel with ID '99' does not exist",
      },
    );
    fake.deactivate(fake.bot);
    assert.equal(await kindOf(client.me()), "unauthorized");
    assert.equal((await client.serverSettings()).featureLevel, 421);
  }),
);

Deno.test("client never shows its key, a body or a query in an error", async () => {
  const leaky: Fetch = (url, init) =>
    Promise.reject(new TypeError(`cannot reach ${url} ${JSON.stringify(init)}`));
  const client = createZulipClient({
    site: "https://zulip.test",
    email: "b@zulip.test",
    apiKey: "hush",
    fetch: leaky,
  });

  const error = await failureOf(client.getMessages({ anchor: 5, numBefore: 0, numAfter: 1, narrow: [] }));

  client.close();
  const shown = `${error.stack} ${JSON.stringify(error)} ${error.cause}`;
  assert.doesNotMatch(shown, new RegExp(`hush|${btoa("b@zulip.test:hush")}|anchor|https:`));
  assert.equal(error.message, "GET /messages: the connection failed");
});

Deno.test("client refuses a redirect, an endless answer, HTML and a missing field", async () => {
  const answers = [
    new Response(null, { status: 302, headers: { location: "https://elsewhere.test/" } }),
    new Response("x".repeat(2_000)),
    new Response("<html>"),
    Response.json({ result: "error" }),
  ];
  const http = createHttp({
    site: "https://zulip.test",
    email: "b@zulip.test",
    apiKey: "k",
    maxResponseBytes: 1_000,
    fetch: () => Promise.resolve(answers.shift() ?? Response.error()),
  });
  const reasons: string[] = [];
  for (let n = 0; n < 4; n++) {
    const { failure } = await failureOf(http.call("GET", { path: "/x", schema: Done }));
    reasons.push(failure.kind === "bad_response" ? failure.reason : failure.kind);
  }

  http.close();
  assert.deepEqual(reasons, [
    "redirect 302; ZULIP_SITE must be the server's own address",
    "longer than 1000 bytes",
    "unexpected JSON at (body)",
    "unexpected JSON at result",
  ]);
});

Deno.test("client accepts only an origin as its site", () => {
  for (const site of ["zulip.test", "ftp://zulip.test", "https://zulip.test/chat", "https://me@zulip.test"]) {
    assert.throws(() => createHttp({ site, email: "", apiKey: "" }), /'site' must be an address/);
  }
});

Deno.test(
  "client takes a reaction that is there, or gone, for success",
  withClient(async ({ fake, client }) => {
    const { id } = fake.say(fake.hamlet, "general", "t", "hi");

    await client.addReaction(id, { name: "eyes" });
    await client.addReaction(id, { name: "eyes" });
    assert.deepEqual(fake.message(id).reactions.map((r) => r.userId), [fake.bot.id]);
    await client.removeReaction(id, { name: "eyes", code: "1f440", type: "unicode_emoji" });
    await client.removeReaction(id, { name: "eyes" });
    assert.deepEqual(fake.message(id).reactions, []);
    assert.equal(await kindOf(client.addReaction(id, { name: "no_such_emoji" })), "bad_request");
  }),
);

Deno.test(
  "client edits with a guard, moves without a notice, and reads places back",
  withClient(async ({ fake, client }) => {
    const { id } = await client.sendMessage({ to, content: "one" });
    await client.editMessage(id, "two", { previousSha256: await bodyHash("one") });
    const { failure } = await failureOf(
      client.editMessage(id, "three", { previousSha256: await bodyHash("one") }),
    );
    assert.ok(failure.kind === "bad_request" && failure.code === "EXPECTATION_MISMATCH");

    await client.moveMessage(id, { topic: "renamed", channelId: 2, propagateMode: "change_all" });

    const place = { kind: "channel", channelId: 2, channelName: "ops", topic: "renamed" };
    assert.deepEqual((await client.getMessage(id))?.place, place);
    assert.deepEqual(fake.messagesIn("ops").map((m) => m.content), ["two"]);
    await client.deleteMessage(id);
    assert.equal(await client.getMessage(id), null);
  }),
);

Deno.test(
  "client finds a sent body in history by the hash of what the server stores",
  withClient(async ({ fake, client }) => {
    const bodies = ["\n\n  spaced \n", "😀".repeat(10_500), "plain", "trailing\u00a0", "``` \ncode\n```\n\n"];
    for (const content of bodies) await client.sendMessage({ to: { userIds: [fake.hamlet.id] }, content });

    const page = await client.getMessages({
      anchor: "newest",
      numBefore: 10,
      numAfter: 0,
      narrow: [{ operator: "sender", operand: fake.bot.id }],
    });

    const hashes = await Promise.all(bodies.map((content) => {
      const stored = serverBody(content);
      assert.ok(stored.ok);
      return bodyHash(stored.body);
    }));
    assert.deepEqual(await Promise.all(page.messages.map((m) => bodyHash(m.content))), hashes);
  }),
);

Deno.test(
  "client echoes its local id to the queue that sent, and to no other",
  withClient(async ({ client }) => {
    const mine = await client.register();
    const other = await client.register();

    await client.sendMessage({ to, content: "x", localId: "intent-1", queueId: mine.queueId });

    const read = async (queue: { queueId: string; lastEventId: number }) =>
      JSON.stringify(await client.getEvents(queue, { timeoutMs: 1_000 })).includes(
        '"local_message_id":"intent-1"',
      );
    assert.deepEqual([await read(mine), await read(other)], [true, false]);
  }),
);
