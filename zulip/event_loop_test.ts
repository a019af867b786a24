import assert from "node:assert/strict";
import fc from "fast-check";
import { systemClock } from "../lib/clock.ts";
import { FakeClock } from "../tests/doubles/fake_clock.ts";
import { FakeZulip } from "../tests/doubles/fake_zulip/mod.ts";
import { createZulipClient, type Narrow } from "./client.ts";
import { type EventCursor, type EventLoopOptions, type LoopProblem, runEventLoop } from "./event_loop.ts";
import { messagesAfter } from "./history.ts";
import { afterFailure, type FailureContext } from "./loop_policy.ts";
import { Message } from "./wire/messages.ts";

/** A fake server, a client, and what a loop over them delivers. */
class Rig {
  readonly fake = new FakeZulip();
  readonly abort = new AbortController();
  /** Contents of messages in the order of their commit, recovered ones marked. */
  readonly seen: string[] = [];
  readonly problems: LoopProblem[] = [];
  mark: number | null = null;
  cursor: EventCursor | null = null;
  registrations: string[] = [];

  async run(
    test: (
      rig: Rig,
      start: (overrides?: Partial<EventLoopOptions>) => ReturnType<typeof runEventLoop>,
    ) => Promise<void>,
    clock = systemClock,
  ): Promise<void> {
    const server = await this.fake.start();
    const { email, apiKey } = this.fake.bot;
    const client = createZulipClient({ site: server.url, email, apiKey, clock });
    const loops: Promise<unknown>[] = [];
    const start = (overrides: Partial<EventLoopOptions> = {}) => {
      const loop = runEventLoop({ ...this.#options(), client, clock, ...overrides });
      loops.push(loop.catch(() => {}));
      return loop;
    };
    try {
      await test(this, start);
    } finally {
      this.abort.abort();
      await Promise.all(loops);
      client.close();
      await server.stop();
    }
  }

  #options(): Omit<EventLoopOptions, "client" | "clock"> {
    return {
      random: () => 0,
      signal: this.abort.signal,
      onRegistered: (registration, why) => {
        this.registrations.push(why);
        this.mark ??= registration.maxMessageId;
        return Promise.resolve();
      },
      onEvent: (event, cursor) => {
        if (event.type === "message") this.seen.push(event.message.content);
        else this.seen.push(`<${event.type}>`);
        if (event.type === "message") this.mark = event.message.id;
        this.cursor = cursor;
        return Promise.resolve();
      },
      gap: {
        mark: () => Promise.resolve(this.mark),
        narrows: () =>
          Promise.resolve([[{ operator: "channel", operand: 1 }], [{ operator: "channel", operand: 2 }]]),
        onMessages: (page) => {
          this.seen.push(...page.map((message) => `recovered ${message.content}`));
          this.mark = page.at(-1)?.id ?? this.mark;
          return Promise.resolve();
        },
        pageSize: 2,
      },
      onProblem: (problem) => this.problems.push(problem),
    };
  }

  say(text: string, channel = "general"): void {
    this.fake.say(this.fake.hamlet, channel, "t", text);
  }

  waiting(): Promise<boolean> {
    return this.fake.until(() => this.fake.waitingPolls === 1);
  }
}

Deno.test("event loop hands over events one at a time and acknowledges each only after its commit", () =>
  new Rig().run(async (rig, start) => {
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const commits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    rig.abort.signal.addEventListener("abort", () => commits.forEach((commit) => commit.resolve()));
    let handled = 0;
    start({
      onEvent: async () => {
        const n = handled++;
        arrived[n]?.resolve();
        await commits[n]?.promise;
      },
    });
    const polls = () => rig.fake.requestsTo("GET /events").map((call) => call.params["last_event_id"]);
    await rig.waiting();
    const release = rig.fake.holdEvents();
    rig.say("one");
    rig.say("two");
    release();

    await arrived[0]?.promise;
    assert.equal(handled, 1);
    commits[0]?.resolve();
    await arrived[1]?.promise;
    assert.deepEqual(polls(), ["-1"]);
    commits[1]?.resolve();
    await rig.waiting();
    assert.deepEqual(polls(), ["-1", "1"]);
  }));

Deno.test("event loop recovers the gap of a lost queue in order and without duplicates", () =>
  new Rig().run(async (rig, start) => {
    rig.say("before the first start");
    const registered = Promise.withResolvers<void>();
    start({
      onRegistered: async (registration, why) => {
        rig.registrations.push(why);
        rig.mark ??= registration.maxMessageId;
        // In history and in the new queue: must come once.
        if (why === "queue_lost") rig.say("raced");
        if (why === "queue_lost") await registered.promise;
      },
    });
    await rig.waiting();
    rig.say("live");
    await rig.fake.until(() => rig.seen.length === 1);
    await rig.waiting();

    rig.fake.loseQueues();
    for (const n of [1, 2, 3, 4, 5]) rig.say(`gap ${n}`, n % 2 ? "ops" : "general");
    await rig.fake.until(() => rig.registrations.length === 2 && rig.fake.world.messages.size === 8);
    registered.resolve();
    await rig.waiting();
    rig.say("live again");
    await rig.fake.until(() => rig.seen.includes("live again"));

    const gap = [1, 2, 3, 4, 5].map((n) => `recovered gap ${n}`);
    assert.deepEqual(rig.seen, ["live", ...gap, "recovered raced", "live again"]);
    assert.deepEqual(rig.registrations, ["first", "queue_lost"]);
  }));

Deno.test("event loop resumes a persisted cursor: what was not committed comes again, what was does not", () =>
  new Rig().run(async (rig, start) => {
    const first = new AbortController();
    const loop = start({
      signal: first.signal,
      onEvent: (event, cursor) => {
        if (event.type === "message" && event.message.content === "two") {
          first.abort();
          return Promise.reject(new Error("the process dies here"));
        }
        rig.cursor = cursor;
        return Promise.resolve();
      },
    });
    await rig.waiting();
    const release = rig.fake.holdEvents();
    rig.say("one");
    rig.say("two");
    release();
    assert.deepEqual(await loop, { reason: "aborted" });
    assert.ok(rig.cursor);

    start({ resume: rig.cursor });
    await rig.waiting();

    assert.deepEqual(rig.seen, ["two"]);
    assert.equal(rig.fake.requestsTo("POST /register").length, 1);
  }));

Deno.test("event loop retries a recovery that failed on the queue that it already has", () =>
  new Rig().run(async (rig, start) => {
    rig.say("mark");
    rig.mark = rig.fake.world.nextMessageId - 1;
    rig.say("missed");
    rig.fake.failNext("GET /messages", { times: 2 });

    start();
    await rig.waiting();

    assert.deepEqual(rig.seen, ["recovered missed"]);
    assert.equal(rig.fake.requestsTo("POST /register").length, 1);
    assert.deepEqual(rig.problems.map((p) => p.kind === "call_failed" && p.failure.kind), [
      "server",
      "server",
    ]);
  }));

Deno.test("event loop tries a failed handler again, and after five times ends with its error", () =>
  new Rig().run(async (rig, start) => {
    let attempts = 0;
    const failure = new Error("no such table");
    const loop = start({
      onEvent: () => {
        attempts++;
        return Promise.reject(failure);
      },
    });
    await rig.waiting();
    rig.say("poison");

    await assert.rejects(loop, failure);
    assert.equal(attempts, 5);
    assert.deepEqual(rig.problems.map((p) => p.kind), Array(5).fill("handler_failed"));
  }));

Deno.test("event loop reports an unreadable event, passes over it and swallows heartbeats", () =>
  new Rig().run(async (rig, start) => {
    start();
    await rig.waiting();
    const release = rig.fake.holdEvents();
    rig.fake.emit({ type: "reaction", op: "add", message_id: "no number" });
    rig.fake.heartbeat();
    rig.say("after");
    release();
    await rig.fake.until(() => rig.seen.length > 0);
    await rig.waiting();

    assert.deepEqual(rig.seen, ["after"]);
    assert.deepEqual(rig.problems.map((p) => p.kind === "unreadable_event" && [p.name, p.eventId]), [[
      "reaction",
      0,
    ]]);
    assert.equal(rig.cursor?.lastEventId, 2);
  }));

Deno.test("event loop waits out a rate limit before it polls again", () => {
  const clock = new FakeClock();
  return new Rig().run(async (rig, start) => {
    start();
    await rig.waiting();
    rig.fake.rateLimitNext("GET /events", 7);
    rig.fake.heartbeat();
    await rig.fake.until(() => rig.fake.requestsTo("GET /events").length === 2);
    while (rig.problems.length === 0) await new Promise((resolve) => setImmediate(resolve));

    await clock.advance(6_999);
    assert.equal(rig.fake.requestsTo("GET /events").length, 2);
    await clock.advance(1);
    await rig.waiting();
    assert.equal(rig.fake.requestsTo("GET /events").length, 3);
  }, clock);
});

Deno.test("event loop stops for good when the account is closed or the realm deactivated", async () => {
  await new Rig().run(async (rig, start) => {
    rig.fake.deactivate(rig.fake.bot);
    assert.deepEqual(await start(), { reason: "unauthorized" });
  });
  await new Rig().run(async (rig, start) => {
    const loop = start();
    await rig.waiting();
    rig.fake.emit({ type: "realm", op: "deactivated", realm_id: 1 });
    assert.deepEqual(await loop, { reason: "realm_deactivated" });
    assert.deepEqual(rig.seen, ["<realm_deactivated>"]);
  });
});

Deno.test("loop policy: what follows each failure", () => {
  const context: FailureContext = {
    phase: "poll",
    failures: 0,
    silentMs: 0,
    random: () => 1,
    why: "first",
  };
  const register = { ...context, phase: "register" as const };

  assert.deepEqual(afterFailure({ kind: "unauthorized" }, context), { do: "stop", reason: "unauthorized" });
  assert.deepEqual(afterFailure({ kind: "bad_event_queue" }, context), {
    do: "register",
    waitMs: 0,
    why: "queue_lost",
  });
  const refused = { kind: "bad_request", status: 400, code: "BAD_REQUEST", msg: "" } as const;
  assert.deepEqual(afterFailure(refused, context), { do: "register", waitMs: 0, why: "cursor_refused" });
  assert.deepEqual(afterFailure(refused, { ...context, failures: 3 }), {
    do: "register",
    waitMs: 4_000,
    why: "cursor_refused",
  });
  assert.deepEqual(afterFailure({ kind: "rate_limited", retryAfterMs: 9_000 }, context), {
    do: "poll",
    waitMs: 9_000,
  });
  assert.deepEqual(afterFailure({ kind: "timeout", afterMs: 1 }, context), { do: "poll", waitMs: 0 });
  assert.deepEqual(afterFailure({ kind: "network" }, context), { do: "poll", waitMs: 500 });
  assert.deepEqual(afterFailure({ kind: "server", status: 502 }, { ...context, failures: 99 }), {
    do: "poll",
    waitMs: 30_000,
  });
  assert.deepEqual(afterFailure({ kind: "timeout", afterMs: 1 }, { ...context, silentMs: 180_000 }), {
    do: "register",
    waitMs: 500,
    why: "silent",
  });
  assert.deepEqual(afterFailure(refused, { ...register, failures: 1 }), {
    do: "register",
    waitMs: 1_000,
    why: "first",
  });
});

Deno.test("history merges any narrows into one ascending sequence, each message once", async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(
      fc.array(ids, { maxLength: 4 }),
      fc.nat(100),
      fc.integer({ min: 1, max: 9 }),
      async (sources, mark, pageSize) => {
        const narrows: Narrow[] = sources.map((_, n) => [{ operator: "channel", operand: n }]);
        const client = {
          getMessages: (
            { anchor, numAfter, narrow }: { anchor: unknown; numAfter: number; narrow?: Narrow },
          ) => {
            const source = (sources[Number(narrow?.[0]?.operand)] ?? []).toSorted((a, b) => a - b);
            const newer = source.filter((id) => id > Number(anchor));
            const messages = newer.slice(0, numAfter).map(messageWithId);
            const foundNewest = newer.length <= numAfter;
            return Promise.resolve({
              messages,
              foundAnchor: false,
              foundOldest: false,
              foundNewest,
              historyLimited: false,
            });
          },
        };
        const got: number[] = [];
        for await (const page of messagesAfter(client, { mark, narrows, pageSize })) {
          got.push(...page.map((m) => m.id));
        }

        assert.deepEqual(got, [...new Set(sources.flat())].filter((id) => id > mark).sort((a, b) => a - b));
      },
    ),
  );
});

function messageWithId(id: number): Message {
  return Message.parse({
    id,
    sender_id: 1,
    content: "",
    timestamp: 0,
    type: "private",
    display_recipient: [],
  });
}
