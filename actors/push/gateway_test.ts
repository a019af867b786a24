import assert from "node:assert/strict";
import { PushBench } from "../../tests/doubles/push_bench.ts";
import { MAX_ATTEMPTS } from "./gateway.ts";
import { noticeText } from "./notice_text.ts";

const deliver = (more: Readonly<Record<string, unknown>> = {}) => ({
  itemId: "i1",
  version: 1,
  about: "waiting",
  subscriptionId: "ada",
  attempt: 0,
  ...more,
});

Deno.test("what waits reaches the browsers of those it waits for, encrypted, with the tool's and conversation's names alone", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  await bench.person("bob");
  await bench.person("eve");

  const sends = await bench.tell(["ada", "bob"]);

  assert.deepEqual(bench.service.complaints, []);
  assert.deepEqual(bench.service.received.map(({ browser }) => browser), ["ada", "bob"]);
  const [first] = bench.service.received;
  assert.deepEqual(first?.notice, {
    v: 1,
    about: "waiting",
    itemId: "i1",
    tool: "exec_command",
    conversation: "Deploy the site",
  });
  assert.equal(first?.headers.get("urgency"), "high");
  assert.equal(first?.headers.get("ttl"), "600");
  assert.deepEqual(sends.map(({ to, type }) => `${to} ${type}`), [
    "approval push.sent",
    "approval push.sent",
  ]);
  assert.deepEqual(await bench.rows("SELECT subscription_id AS id, state FROM push_deliveries ORDER BY id"), [
    { id: "ada", state: "sent" },
    { id: "bob", state: "sent" },
  ]);
});

Deno.test("an item is told of once a device and reason, however often the message comes", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");

  await bench.tell(["ada"]);
  await bench.tell(["ada"]);
  await bench.tell(["ada"], { key: "remind/i1/1/1" });

  assert.equal(bench.service.received.length, 2);
});

Deno.test("a message that may have been sent before a crash takes the place of the first one", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");

  await bench.handle("push.deliver", deliver());
  await bench.handle("push.deliver", deliver(), { resumed: true });

  const topics = new Set(bench.service.received.map(({ headers }) => headers.get("topic")));
  assert.equal(bench.service.received.length, 2);
  assert.deepEqual([...topics].map((topic) => topic?.length), [32]);
});

Deno.test("nothing is sent about what waits no more, was offered anew, or to who is signed out", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  await bench.person("bob");
  await bench.run("DELETE FROM sessions WHERE user_id = 'bob'");

  await bench.tell(["bob"]);
  await bench.handle("push.deliver", deliver({ subscriptionId: "bob" }));
  await bench.handle("push.deliver", deliver({ version: 3 }));
  await bench.run("UPDATE pending_items SET state = 'decided', version = 2");
  await bench.handle("push.deliver", deliver());

  assert.equal(bench.service.requests, 0);
});

Deno.test("when it is over the devices that were told hear so, but not the one that decided or opened it", async () => {
  await using bench = await PushBench.open();
  for (const name of ["ada", "bob", "eve", "joe"]) await bench.person(name);
  await bench.tell(["ada", "bob", "eve"]);
  await bench.handle("push.clicked", { itemId: "i1", deviceId: "eve" });
  await bench.run(`UPDATE pending_items SET state = 'applied', version = 2, decision = '{"device":"ada"}'`);
  bench.service.received.splice(0);

  await bench.settle();

  const heard = bench.service.received.map(({ browser, notice }) => `${browser} ${notice["about"]}`);
  assert.deepEqual(heard, ["bob settled"]);
  assert.deepEqual(
    await bench.rows("SELECT subscription_id AS id, state FROM push_deliveries ORDER BY id"),
    [{ id: "ada", state: "sent" }, { id: "bob", state: "settled" }, { id: "eve", state: "clicked" }],
  );
});

Deno.test("a message that was on its way when somebody decided is followed by the news that it is over", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  const decide = bench.run("UPDATE pending_items SET state = 'applied', version = 2");
  const read = bench.context.read.bind(bench.context);
  let reads = 0;
  bench.context.read = async (name, input) => {
    // Decided after the first look at the item.
    if (name === "push.item" && ++reads === 1) {
      return { ...await read(name, input) as object, state: "waiting", version: 1 };
    }
    return await read(name, input);
  };
  await decide;

  const sends = await bench.handle("push.deliver", deliver());

  assert.deepEqual(
    sends.filter(({ to }) => to === "push").map(({ dedupe }) => dedupe),
    ["push/settled/i1/ada"],
  );
});

for (const status of [404, 410]) {
  Deno.test(`a browser that is gone (${status}) is blocked, its keys are forgotten, and nothing is sent to it again`, async () => {
    await using bench = await PushBench.open();
    await bench.person("ada");
    bench.service.answers.push({ status });

    await bench.tell(["ada"]);
    await bench.tell(["ada"], { key: "remind/i1/1/1" });

    assert.equal(bench.service.requests, 1);
    assert.deepEqual(
      await bench.rows("SELECT failed_at IS NOT NULL AS failed, p256dh, auth FROM push_subscriptions"),
      [{ failed: 1, p256dh: "", auth: "" }],
    );
  });
}

Deno.test("a service that is busy is asked again when it says, or after a growing pause, and not for ever", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  bench.service.answers.push(
    { status: 429, headers: { "retry-after": "120" } },
    { status: 500 },
    { status: 503, headers: { "retry-after": "999999" } },
    ...Array.from({ length: MAX_ATTEMPTS }, () => ({ status: 500 })),
  );

  const waits: number[] = [];
  let sends = await bench.tell(["ada"]);
  while (sends[0]?.type === "push.deliver") {
    waits.push((sends[0].notBefore ?? 0) - bench.now);
    sends = await bench.handle(sends[0].type, sends[0].payload);
  }

  assert.deepEqual(waits, [120_000, 4_000, 3_600_000, 16_000, 32_000]);
  assert.equal(bench.service.requests, MAX_ATTEMPTS);
  assert.deepEqual(await bench.rows("SELECT state FROM push_deliveries"), [{ state: "failed" }]);
});

Deno.test("a service that sends elsewhere is not followed, and an address of no push service is never called", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  await bench.person("bob");
  await bench.run("UPDATE push_subscriptions SET endpoint = 'https://127.0.0.1:1/x' WHERE id = 'ada'");
  bench.service.answers.push({ status: 307, headers: { location: "http://127.0.0.1:1/" } });

  const elsewhere = await bench.tell(["bob"]);
  const nowhere = await bench.tell(["ada"], { key: "other" });

  assert.deepEqual([...elsewhere, ...nowhere], []);
  assert.equal(bench.service.requests, 1, "an address of no push service is never called");
  assert.deepEqual(await bench.rows("SELECT DISTINCT state FROM push_deliveries"), [{ state: "failed" }]);
});

Deno.test("a connection that breaks is a reason to try again", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  await bench.service.close();

  const [send] = await bench.tell(["ada"]);

  assert.equal(send?.type, "push.deliver");
});

Deno.test("after the lease may have passed on nothing is sent, and the message waits", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  bench.context.acting = false;

  const [send] = await bench.tell(["ada"]);

  assert.equal(bench.service.requests, 0);
  assert.equal(send?.type, "push.deliver");
});

Deno.test("nothing is sent before its beginning is on disk", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");
  const delivery = bench.context.delivery({ type: "push.deliver", payload: deliver() });
  const error = { code: "unavailable", message: "the disk is full" };

  const effects = await bench.gateway.handle({
    ...delivery,
    started: () => Promise.resolve({ ok: false, error }),
  });

  assert.equal(bench.service.requests, 0);
  assert.deepEqual(effects?.send?.map(({ type }) => type), ["push.deliver"]);
});

Deno.test("a test message says that it is one, and its outcome is kept", async () => {
  await using bench = await PushBench.open();
  await bench.person("ada");

  await bench.handle("push.test", { subscriptionId: "ada", attempt: 0 });

  assert.deepEqual(bench.service.received.map(({ notice }) => notice), [{ v: 1, about: "test" }]);
  assert.deepEqual(await bench.rows("SELECT item_id AS item, state FROM push_deliveries"), [
    { item: "test", state: "sent" },
  ]);
});

Deno.test("a title hides nothing on a lock screen and is not longer than one", () => {
  assert.equal(noticeText("a\u202eb\nc"), "a\\u{202e}b\\u{a}c");
  assert.equal([...noticeText("😀".repeat(500))].length, 120);
});
