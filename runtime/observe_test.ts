/**
 * What can be seen of a runtime while it works: the message in hand, its counters, spans; and messages that are held back on request.
 */
import assert from "node:assert/strict";
import { MemoryTracer } from "../tests/doubles/memory_tracer.ts";
import { withRuntime } from "../tests/doubles/fault_bench.ts";
import { activeTracer, inSpan } from "./tracing.ts";

Deno.test("an actor shows the message that it is at, and nothing when it is done", async () => {
  await withRuntime(async (test) => {
    const id = await test.insert("tools", "test.act", { key: "k", n: 1, waitFor: "k" });
    await test.until("it is in hand", () => test.view("tools")?.currentMessage !== undefined);
    const during = test.view("tools")?.currentMessage;

    await test.insert("tools", "test.release", { key: "k" });
    await test.until("it acted", async () => await test.open("tools") === 0);

    assert.deepEqual({ ...during, ms: 0 }, { id, type: "test.act", ms: 0 });
    await test.until("its hands are empty", () => test.view("tools")?.currentMessage === undefined);
  });
});

Deno.test("actors tell how much heap they use", async () => {
  await withRuntime(async (test) => {
    const told = (ref: string) => (test.view(ref)?.heapMb ?? 0) > 0.5;

    // A Worker tells every five seconds, a gateway with each beat.
    await test.until("both told", () => told("approval") && told("tools"));
  });
});

Deno.test("commits, ends and dead letters are counted", async () => {
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.add", { n: 1 });
    await test.insert("conversation/a", "test.fault", { fault: "throw" });
    await test.until("it is given up", () => test.notes.some((note) => note.type === "poison"));
    await test.until("it is written down", async () =>
      (await test.rows("SELECT * FROM dead_letters")).length === 1);

    await test.until("it lives again", () => test.view("conversation/a")?.state === "live");

    const { commits, commitSeconds, downs, deadLetters } = test.runtime.stats();
    const count = commitSeconds.find(({ suffix }) => suffix === "_count")?.value ?? 0;
    const ok = commits.find(({ labels }) => labels.outcome === "ok")?.value ?? 0;
    const ended = await test.rows("SELECT ref FROM downs WHERE reason = 'error'");
    assert.deepEqual(downs, [{ labels: { kind: "conversation", reason: "error" }, value: ended.length }]);
    assert.deepEqual(deadLetters, [{ labels: { kind: "conversation" }, value: 1 }]);
    assert.ok(ok > 3);
    assert.equal(count, ok);
  });
});

Deno.test("what is held waits while the rest goes on, is told once a message, and goes on in order when it is lifted", async () => {
  await withRuntime(async (test) => {
    const hold = {
      since: 7,
      reason: "the test says so",
      matches: ({ type }: { type: string }) => type === "test.add",
    };
    test.runtime.hold(hold);
    await test.insert("conversation/a", "test.add", { n: 1 });
    await test.insert("conversation/a", "test.add", { n: 2 });
    await test.insert("conversation/a", "test.ask");
    await test.until("the rest is answered", () => test.edge.some(({ type }) => type === "test.answer"));
    const meanwhile = test.edge.find(({ type }) => type === "test.answer")?.payload;
    const told = test.notes.filter(({ type }) => type === "held");

    test.runtime.hold(undefined);
    await test.until("all is done", async () => await test.open("conversation/a") === 0);

    assert.deepEqual(meanwhile, { total: 0 });
    const note = {
      type: "held",
      ref: "conversation/a",
      messageType: "test.add",
      reason: hold.reason,
      since: 7,
    };
    assert.deepEqual(told, [note, note]);
    const events = await test.rows("SELECT payload ->> 'n' AS n FROM events ORDER BY seq");
    assert.deepEqual(events, [{ n: 1 }, { n: 2 }]);
  });
});

Deno.test("a trace follows a message from actor to actor: send, handle, commit", async () => {
  const tracer = new MemoryTracer();
  await withRuntime(async (test) => {
    await test.insert("conversation/a", "test.forward", { to: "conversation/b", n: 1 });
    await test.until("it arrived", async () => await test.total("conversation/b") === 1);
    await test.until("it is done", () => tracer.find("handle test.add") !== undefined);

    const [first, send, second, commit] = [
      "handle test.forward",
      "send test.add",
      "handle test.add",
      "commit",
    ]
      .map((name) => tracer.find(name));
    assert.equal(first?.parent, undefined);
    assert.equal(send?.parent?.spanId, first?.context.spanId);
    assert.equal(second?.parent?.spanId, send?.context.spanId);
    assert.equal(commit?.parent?.spanId, first?.context.spanId);
    assert.equal(second?.context.traceId, first?.context.traceId);
    const rows = await test.rows("SELECT traceparent FROM messages WHERE type = 'test.add'");
    assert.deepEqual(rows, [{ traceparent: `00-${send?.context.traceId}-${send?.context.spanId}-01` }]);
  }, { tracer });
});

Deno.test("the handling of a message by an actor that dies is a failed span, and the next one is another", async () => {
  const tracer = new MemoryTracer();
  await withRuntime(async (test) => {
    await test.insert("tools", "test.act", { key: "k", n: 1, die: "between" });
    const spans = () => tracer.ended.filter(({ name }) => name === "handle test.act");
    await test.until("it acted", () => spans().length === 2);

    const handled = spans();
    assert.deepEqual(handled.map(({ status }) => status.code), [2, 0]);
  }, { tracer });
});

Deno.test("a gateway's own work is a span below the message's, failed when it throws", async () => {
  const tracer = new MemoryTracer();
  const message = {
    id: "m",
    to: "tools",
    from: "edge",
    type: "test.act",
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
  };

  const value = await inSpan(tracer, message, () => Promise.resolve(5));
  await assert.rejects(inSpan(tracer, message, () => Promise.reject(new Error("no"))), /no/);

  assert.equal(value, 5);
  assert.deepEqual(tracer.ended.map(({ name, parent, status }) => [name, parent?.spanId, status.code]), [
    ["act test.act", "b".repeat(16), 0],
    ["act test.act", "b".repeat(16), 2],
  ]);
});

Deno.test("without a registered tracer there is none", () => {
  assert.equal(activeTracer(), undefined);
});
