/** Proves that a stream has no gap, shows only what one may see, says when it must begin anew, and always ends. */
import assert from "node:assert/strict";
import { type Bench, type Client, withBench } from "../tests/doubles/edge_bench.ts";
import { settle } from "../tests/doubles/fake_clock.ts";
import { HEARTBEAT_MS, STREAMS_PER_SESSION } from "./streams.ts";

interface Told {
  readonly id?: number;
  readonly event: string;
  // Each test asserts the shape that it expects.
  readonly data: Record<string, unknown>;
}

/** Reads a stream as `EventSource` would. */
class Listener {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  comments = 0;

  constructor(response: Response) {
    assert.equal(response.status, 200);
    assert.ok(response.body);
    this.#reader = response.body.getReader();
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<Told | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await this.#reader.read();
        if (done) return undefined;
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const block = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      if (block.startsWith(":")) this.comments++;
      if (block.startsWith(":") || block.startsWith("retry:")) continue;
      const fields = Object.fromEntries(
        block.split("\n").map((line) => {
          const colon = line.indexOf(": ");
          return [line.slice(0, colon), line.slice(colon + 2)];
        }),
      );
      const told = { event: fields.event ?? "", data: JSON.parse(fields.data ?? "null") };
      return fields.id === undefined ? told : { ...told, id: Number(fields.id) };
    }
  }

  async take(count: number): Promise<Told[]> {
    const events: Told[] = [];
    for (let index = 0; index < count; index++) {
      const event = await this.next();
      assert.ok(event, `the stream ended after ${index} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

async function listen(client: Client, query = "", headers = {}): Promise<Listener> {
  return new Listener(await client.get(`/api/stream${query}`, headers));
}

/** Lets what waits for database answers go on until `done` says so. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise<void>((resolve) => setImmediate(resolve));
}

Deno.test("a stream says where it begins, then each change as it now stands", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    await bench.announce("item", "i0");
    const stream = await listen(await bench.owner());
    assert.deepEqual(await stream.next(), { id: 1, event: "hello", data: { cursor: 1, version: "test" } });

    await bench.announce("item", "i1");
    const [item] = await stream.take(1);
    await bench.announce("events", "conversation/c1", 12);
    const [events] = await stream.take(1);
    await bench.announce("conversation", "c1", 0);
    const [conversation] = await stream.take(1);

    assert.equal(item?.event, "item");
    assert.equal(item?.id, 2);
    assert.equal((item?.data.item as { state: string }).state, "waiting"); // the item of the API
    assert.deepEqual(events, { id: 3, event: "events", data: { conversation: "c1", seq: 12 } });
    assert.equal((conversation?.data.conversation as { title: string }).title, "Title of c1"); // the summary of the API
    await stream.leave();
  }));

Deno.test("a stream that was cut resumes behind what it had, without a gap or a repeat", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const first = await listen(owner);
    await first.next();
    for (let index = 1; index <= 3; index++) await bench.announce("policy", `before-${index}`);
    const before = await first.take(3);
    await first.leave();
    for (let index = 1; index <= 450; index++) {
      await bench.run(
        "INSERT INTO feed (kind, ref, version, at) VALUES ('policy', ?, 0, 1)",
        `gone-${index}`,
      );
    }

    const second = await listen(owner, "?after=1", { "last-event-id": String(before.at(-1)?.id) });
    assert.equal((await second.next())?.event, "hello");
    const missed = await second.take(450);
    await bench.announce("policy", "after");
    const [last] = await second.take(1);

    const refs = missed.map(({ data }) => data.ref);
    assert.deepEqual(refs, Array.from({ length: 450 }, (_, index) => `gone-${index + 1}`));
    assert.deepEqual(missed.map(({ id }) => id), Array.from({ length: 450 }, (_, index) => 4 + index));
    assert.equal(last?.data.ref, "after");
    await second.leave();
  }));

Deno.test("changes made while a stream opens and catches up are all told", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const wanted = 120;
    const writing = (async () => {
      for (let index = 0; index < wanted; index++) await bench.announce("policy", `p${index}`);
    })();

    const streams = await Promise.all([
      listen(owner, "?after=0"),
      listen(owner, "?after=0"),
      listen(owner, "?after=0"),
    ]);

    for (const stream of streams) {
      assert.equal((await stream.next())?.event, "hello");
      const refs = (await stream.take(wanted)).map(({ data }) => data.ref);
      assert.deepEqual(refs, Array.from({ length: wanted }, (_, index) => `p${index}`));
      await stream.leave();
    }
    await writing;
  }));

Deno.test("a cursor that is pruned or from another database gets a reset", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    for (let index = 0; index < 5; index++) await bench.announce("policy", "p");
    await bench.run("DELETE FROM feed WHERE seq <= 3");

    for (const after of [0, 2, 6]) {
      const stream = await listen(owner, `?after=${after}`);
      assert.deepEqual((await stream.take(2))[1], { id: 5, event: "reset", data: { cursor: 5 } });
      await stream.leave();
    }
    const kept = await listen(owner, "?after=3");
    assert.deepEqual((await kept.take(2)).map(({ event, id }) => [event, id]), [["hello", 3], ["policy", 5]]);
    await kept.leave();
    await bench.run("DELETE FROM feed");
    const stream = await listen(owner, "?after=4");
    assert.equal((await stream.take(2))[1]?.event, "reset");
    await stream.leave();
    assert.equal((await owner.get("/api/stream?after=x")).status, 400);
  }));

Deno.test("a stream tells only what its person may see", () =>
  withBench(async (bench) => {
    await bench.conversation("seen");
    await bench.conversation("web", null);
    await bench.conversation("other", 8);
    for (const id of ["seen", "web", "other"]) await bench.item(`${id}-item`, id);
    const stream = await listen(await bench.person("viewer"));
    await stream.next();

    for (const id of ["web", "other", "seen"]) {
      await bench.announce("item", `${id}-item`);
      await bench.announce("conversation", id);
      await bench.announce("events", id);
      await bench.announce("actor", `conversation/${id}`);
    }
    await bench.announce("actor", "toolbox");

    const told = await stream.take(4);
    assert.deepEqual(told.map(({ event }) => event), ["item", "conversation", "events", "actor"]);
    assert.ok(!JSON.stringify(told).includes("web") && !JSON.stringify(told).includes("other"));
    assert.equal(told.at(-1)?.data.ref, "toolbox");
    await stream.leave();
  }));

Deno.test("a stream tells a person what they put off themselves, and nobody else", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    const [owner, approver] = [await bench.owner(), await bench.person("approver")];
    const streams = [await listen(owner), await listen(approver)];
    for (const stream of streams) await stream.next();
    const until = bench.clock.now() + 1_000;

    await approver.post("/api/inbox/i1/later", { until });

    const told = await Promise.all(streams.map((stream) => stream.take(1)));
    const laters = told.map(([event]) => (event?.data.item as { laterUntil?: number }).laterUntil); // the item of the API
    assert.deepEqual(laters, [undefined, until]);
    for (const stream of streams) await stream.leave();
  }));

Deno.test("live pieces reach who asked for that conversation and may see it", () =>
  withBench(async (bench) => {
    await bench.conversation("seen");
    await bench.conversation("web", null);
    const query = "?conversation=seen&conversation=web";
    const [viewer, owner] = [
      await listen(await bench.person("viewer"), query),
      await listen(await bench.owner(), query),
    ];
    const idle = await listen(await bench.owner());
    for (const stream of [viewer, owner, idle]) await stream.next();
    await untilFollowing(bench, viewer, owner);

    const delta = { turnId: "t", item: "i", kind: "text", offset: 0, text: "Hi" } as const;
    bench.live({ conversation: "web", delta });
    bench.live({ conversation: "seen", delta });
    await bench.announce("policy", "end");

    assert.deepEqual((await owner.take(3)).map(({ event, data }) => [event, data.conversation ?? data.ref]), [
      ["delta", "web"],
      ["delta", "seen"],
      ["policy", "end"],
    ]);
    assert.deepEqual(await viewer.take(2).then((told) => told.map(({ event }) => event)), [
      "delta",
      "policy",
    ]);
    assert.equal((await idle.next())?.event, "policy");
    for (const stream of [viewer, owner, idle]) await stream.leave();
  }));

/** A stream that was told of a later change has chosen its conversations. */
async function untilFollowing(bench: Bench, ...streams: Listener[]): Promise<void> {
  await bench.announce("policy", "begin");
  for (const stream of streams) assert.equal((await stream.next())?.event, "policy");
}

Deno.test("a client that does not read costs one page, loses live pieces, and misses no change", () =>
  withBench(async (bench) => {
    await bench.conversation("c1");
    const stream = await listen(await bench.owner(), "?conversation=c1");
    await stream.next();
    await untilFollowing(bench, stream);
    const text = "x".repeat(10_000);

    for (let index = 0; index < 200; index++) {
      bench.live({
        conversation: "c1",
        delta: { turnId: "t", item: "i", kind: "text", offset: index, text },
      });
    }
    await bench.announce("policy", "end");

    const told = [];
    for (;;) {
      const event = await stream.next();
      told.push(event?.event);
      if (event?.event === "policy") break;
    }
    assert.ok(told.length < 20, `${told.length} of 200 pieces were kept`);
    await stream.leave();
  }));

Deno.test("a stream ends when its session is revoked, and sees less when a channel is taken away", () =>
  withBench(async (bench) => {
    await bench.conversation("seen");
    const viewer = await bench.person("viewer");
    const owner = await bench.owner();
    const [stream, revoked] = [await listen(viewer), await listen(owner)];
    for (const each of [stream, revoked]) await each.next();
    await untilFollowing(bench, stream, revoked);
    await owner.send("DELETE", "/api/session");
    await bench.run("DELETE FROM entitlements");

    await bench.clock.advance(HEARTBEAT_MS);
    const ended = revoked.next();
    await bench.announce("policy", "wake");
    assert.equal((await stream.next())?.data.ref, "wake");
    await bench.announce("conversation", "seen");
    await bench.announce("policy", "end");

    assert.equal((await stream.next())?.data.ref, "end");
    assert.ok(stream.comments >= 1);
    assert.equal(await ended.then((event) => event?.event), undefined);
    await stream.leave();
  }));

Deno.test("a session has at most eight streams, and one that left makes room", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const streams = [];
    for (let index = 0; index < STREAMS_PER_SESSION; index++) streams.push(await listen(owner));

    assert.equal((await owner.get("/api/stream")).status, 429);
    await streams.pop()?.leave();
    let next = await owner.get("/api/stream");
    while (next.status === 429) next = await owner.get("/api/stream");
    streams.push(new Listener(next));
    for (const stream of streams) await stream.leave();
  }));

Deno.test("a HEAD request opens no stream", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();

    const answer = await owner.send("HEAD", "/api/stream");

    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    assert.match(await (await bench.app.request("/metrics")).text(), /callboard_streams 0/);
  }));

Deno.test("closing the streams ends every one and leaves no timer behind", () =>
  withBench(async (bench) => {
    const owner = await bench.owner();
    const streams = [await listen(owner), await listen(owner, "?after=0"), await listen(owner)];
    for (const stream of streams) await stream.next();

    await bench.app.closeStreams();

    for (const stream of streams) assert.equal(await stream.next(), undefined);
    await until(() => bench.clock.pending === 0);
    assert.equal(bench.listeners.size, 0);
  }));

Deno.test("without any notice the feed is read every second", () =>
  withBench(async (bench) => {
    const stream = await listen(await bench.owner());
    await stream.next();
    await untilFollowing(bench, stream);
    await bench.run("INSERT INTO feed (kind, ref, version, at) VALUES ('policy', 'quiet', 0, 1)");

    const told = stream.next();
    await settle();
    await bench.clock.advance(1_000);

    assert.equal((await told)?.data.ref, "quiet");
    await stream.leave();
  }));
