import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { FakeClock } from "../../../tests/doubles/fake_clock.ts";
import { call, refuse, type Reply, say } from "../../../tests/doubles/fake_model/script.ts";
import { openSingleShotFetch } from "../single_shot_fetch.ts";
import { each, failure, finished, KEY, plain, withFake } from "../../../tests/doubles/pi_harness.ts";
import { observeFetch } from "./observed_fetch.ts";
import { createPiStream } from "./pi_stream.ts";

each("E17: pi stream classifies an error that comes after the 200", async (model, { fake, ask }) => {
  fake.script([
    [say("Half"), { do: "error", type: "overloaded_error", message: `Overloaded for ${KEY}` }],
    [{ do: "error", type: "context_length_exceeded", message: "too long" }],
  ]);

  equal(failure(await ask(model)).error.class, "transient");
  equal(failure(await ask(model)).error.class, "context_too_long");
});

Deno.test("observed fetch refuses a second request", async () => {
  let sent = 0;
  const observed = observeFetch(() => Promise.resolve(new Response(`answer ${++sent}`)));

  equal(await (await observed.fetch("http://a")).text(), "answer 1");

  await rejects(observed.fetch("http://a"), /second one/);
  equal(sent, 1);
});

const REFUSALS: readonly (readonly [string, Reply, string, number?])[] = [
  ["429 with retry-after", [refuse(429, { retryAfter: "7" })], "rate_limit", 7_000],
  ["429 with hours to wait", [refuse(429, { retryAfter: "7200" })], "usage_limit", 7_200_000],
  ["529", [refuse(529)], "transient"],
  ["500", [refuse(500)], "transient"],
  ["401 that repeats the key", [refuse(401, { body: `{"error":{"message":"bad key ${KEY}"}}` })], "auth"],
  ["502 as an HTML page", [refuse(502, { body: `<html><h1>Bad Gateway</h1>${KEY}</html>` })], "transient"],
  ["404", [refuse(404, { body: '{"error":{"message":"no such model"}}' })], "bad_request"],
  ["an overflow", [{ do: "overflow" }], "context_too_long"],
  ["a cut connection", [say("Half"), { do: "cut" }], "transient"],
  ["an end without a finish", [say("Half"), { do: "close" }], "transient"],
  ["malformed JSON", [{ do: "raw", text: "event: content_block_delta\ndata: {nonsense\n\n" }], "transient"],
];

for (const [name, reply, kind, retryAfterMs] of REFUSALS) {
  each(`pi stream turns ${name} into ${kind}, after one request`, async (model, { fake, ask, sent }) => {
    fake.script([reply]);

    const { error } = failure(await ask(model));

    equal(error.class, kind, error.message);
    equal(error.retryAfterMs, retryAfterMs);
    equal(sent.length, 1);
    equal(fake.requests.length, 1);
    ok(error.message.length > 0);
  });
}

each("pi stream keeps only items that were whole when the stream broke", async (model, { fake, ask }) => {
  fake.script([[say("Whole."), call("exec_command", {}, "c"), { do: "cut" }]]);

  const { items } = failure(await ask(model));

  // Chat completions do not mark the end of an item, so there nothing is known to be whole.
  const expected = model.startsWith("openai-compatible/") ? [] : ["assistant", "tool_call"];
  deepEqual(items.map((item) => item.type), expected);
});

each(
  "E22: pi stream finishes when the provider leaves the connection open",
  async (model, { fake, clock, ask }) => {
    fake.script([[say("Done."), { do: "stay_open", reason: "stop" }]]);
    const asked = ask(model);
    await fake.nextRequest();
    let settled = false;
    void asked.then(() => settled = true);
    // The grace timer replaces nothing: it is the second timer, beside the idle limit.
    while (clock.pending < 2 && !settled) await new Promise((resolve) => setImmediate(resolve));

    await clock.advance(2_000);

    deepEqual(plain(finished(await asked).items), [{ type: "assistant", text: "Done." }]);
  },
);

each(
  "pi stream fails as transient after 300 s without progress, and hangs up",
  async (model, { fake, clock, ask }) => {
    fake.script([[say("Hm"), { do: "hang" }]]);
    const { promise: wrote, resolve } = Promise.withResolvers<void>();
    const asked = ask(model, { onDelta: () => resolve() });
    await wrote;
    const seen = await fake.nextRequest();

    await clock.advance(299_999);
    await clock.advance(1);

    const { error } = failure(await asked);
    equal(error.class, "transient");
    match(error.message, /300 s/);
    equal(await seen.ended, "gone");
  },
);

each(
  "pi stream settles as aborted when it is cancelled, and hangs up",
  async (model, { fake, ask, deltas }) => {
    fake.script([[say("Hm"), { do: "hang" }, say("late")]]);
    const abort = new AbortController();
    const { promise: wrote, resolve } = Promise.withResolvers<void>();
    const asked = ask(model, { signal: abort.signal, onDelta: () => resolve() });
    await wrote;
    const seen = await fake.nextRequest();

    abort.abort();

    equal(failure(await asked).error.class, "aborted");
    equal(await seen.ended, "gone");
    equal(deltas.map((delta) => delta.delta).join(""), "Hm");
  },
);

each("pi stream counts the idle time from the last progress", async (model, { fake, clock, ask }) => {
  fake.script([[say("one"), { do: "hang" }, say("two"), { do: "hang" }]]);
  const wrote = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const asked = ask(model, { onDelta: () => wrote[count++]?.resolve() });
  await wrote[0]?.promise;
  await fake.whenHanging();
  await clock.advance(200_000);
  fake.release();
  await wrote[1]?.promise;

  const limitAt = clock.nextAt;
  await clock.advance(300_000);

  equal(limitAt, clock.now());
  equal(failure(await asked).error.class, "transient");
});

Deno.test("pi stream stops at an item or a line that has no end", () =>
  withFake(async ({ fake, ask }) => {
    fake.script([
      [{ do: "call", name: "t", fragments: ["x".repeat(700_000), "x".repeat(700_000)] }],
      [{ do: "raw", text: `data: ${"x".repeat(11 * 1024 * 1024)}` }, { do: "hang" }],
    ]);

    const item = failure(await ask("openai/gpt-test"));
    const line = failure(await ask("openai/gpt-test"));

    deepEqual([item.error.class, item.items], ["fatal", []]);
    match(item.error.message, /more than 1048576 characters/);
    match(line.error.message, /10 MiB/);
  }));

Deno.test("pi stream sends nothing when it is cancelled before it starts", () =>
  withFake(async ({ fake, ask }) => {
    const outcome = await ask("anthropic/claude-test", { signal: AbortSignal.abort() });

    equal(failure(outcome).error.class, "aborted");
    equal(fake.requests.length, 0);
  }));

Deno.test("pi stream says what to configure for an unknown provider or a missing key", async () => {
  const stream = createPiStream({ endpoints: {}, fetch, clock: new FakeClock() });
  const ask = (model: string) =>
    stream({ turnId: "t", step: 0, attempt: 0, model, system: "", tools: [], items: [] }, {
      signal: new AbortController().signal,
      onDelta: () => {},
    });

  const unknown = failure(await ask("acme/gpt"));
  const keyless = failure(await ask("anthropic/claude-test"));

  equal(unknown.error.class, "bad_request");
  match(unknown.error.message, /acme\/gpt.*ollama/);
  equal(keyless.error.class, "auth");
  match(keyless.error.message, /ANTHROPIC_API_KEY/);
});

/** Answers the first request and keeps the connection; reads every later one and drops it. Counts them. */
function droppingServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const server = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    requests: 0,
    close: () => listener.close(),
    done,
  };
  const answer = new TextEncoder().encode(
    "HTTP/1.1 401 No\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nno",
  );
  async function serve(connection: Deno.Conn): Promise<void> {
    using _connection = connection;
    const buffer = new Uint8Array(65_536);
    while (await connection.read(buffer).catch(() => null) !== null) {
      if (++server.requests > 1) return;
      await connection.write(answer);
    }
  }
  const serving: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) serving.push(serve(connection));
  })();
  async function done(): Promise<void> {
    await accepting;
    await Promise.all(serving);
  }
  return server;
}

Deno.test("pi stream is not sent again by fetch when a kept-alive connection drops", async () => {
  const server = droppingServer();
  const http = openSingleShotFetch();
  const stream = createPiStream({
    endpoints: { anthropic: { apiKey: KEY, baseUrl: server.url } },
    fetch: http.fetch,
    clock: new FakeClock(),
  });
  const ask = () =>
    stream({
      turnId: "t",
      step: 0,
      attempt: 0,
      model: "anthropic/m",
      system: "",
      tools: [],
      items: [{ type: "user", text: "x" }],
    }, { signal: new AbortController().signal, onDelta: () => {} });

  const outcomes = [failure(await ask()), failure(await ask())];

  http.close();
  server.close();
  await server.done();
  deepEqual(outcomes.map((outcome) => outcome.error.class), ["auth", "transient"]);
  equal(server.requests, 2);
});
