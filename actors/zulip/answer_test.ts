/** Proves that an answer stands once, whole, at the end of its topic, whatever becomes of calls, names and processes on the way. */
import assert from "node:assert/strict";
import { ZulipBench as Bench } from "../../tests/doubles/zulip_bench.ts";
import { FakeClock } from "../../tests/doubles/fake_clock.ts";
import { ZulipError } from "../../zulip/errors.ts";
import { Poster } from "./poster.ts";

const longText = "An answer that is long enough to be worth a message of its own. ";

Deno.test("a final answer is posted once however often it is delivered", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation, messageId } = await bench.heard("go");

  await bench.answer(conversation, {
    turnId: "turn-1",
    text: longText,
    footer: "a-model",
    triggerId: messageId,
  });
  await bench.answer(conversation, {
    turnId: "turn-1",
    text: longText,
    footer: "a-model",
    triggerId: messageId,
  });
  await bench.crash();
  await bench.answer(conversation, {
    turnId: "turn-1",
    text: longText,
    footer: "a-model",
    triggerId: messageId,
  });

  assert.deepEqual(bench.said("t"), [`${longText}

*a-model*`]);
});

Deno.test("a streamed answer is edited in place and ends as the final text", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation, messageId } = await bench.heard("go");

  bench.gateway.ephemeral?.(
    bench.context.delivery({
      type: "topic.progress",
      from: `conversation/${conversation}`,
      payload: { turnId: "turn-1", version: 1, text: longText, status: "", triggerId: messageId },
    }).message,
  );
  await bench.fake.until(() => bench.said("t").length === 1);
  const streamed = bench.said("t")[0];
  await bench.answer(conversation, {
    turnId: "turn-1",
    text: `${longText}\n\nThe end.`,
    triggerId: messageId,
  });

  assert.match(streamed ?? "", /\*\(…\)\*$/);
  assert.deepEqual(bench.said("t"), [`${longText}\n\nThe end.`]);
  assert.equal(
    bench.fake.message(messageId).reactions.length,
    0,
    "the acknowledging reaction was taken back",
  );
});

Deno.test("an answer whose POST was stored but not answered is adopted, not repeated", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  bench.fake.dropNextResponse("POST /messages");

  await bench.answer(conversation, { turnId: "turn-1", text: longText });

  assert.equal(bench.said("t").length, 1);
});

Deno.test("an answer whose POST never arrived is sent again after history was read", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  bench.fake.dropNextRequest("POST /messages");

  await bench.answer(conversation, { turnId: "turn-1", text: longText });

  assert.equal(bench.said("t").length, 1);
  assert.equal(bench.fake.requestsTo("POST /messages").length, 2);
});

Deno.test("an answer to which Zulip owes the reply is adopted as soon as the queue shows it", async () => {
  await using bench = await Bench.open({ settleAfterMs: 60_000 });
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  bench.fake.hangNextResponse("POST /messages");

  await bench.answer(conversation, { turnId: "turn-1", text: longText });

  assert.equal(bench.said("t").length, 1);
});

Deno.test("a post of a killed gateway is found in history by the next one", async () => {
  await using bench = await Bench.open({ settleAfterMs: 60_000 });
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  const release = bench.fake.holdEvents();
  bench.fake.hangNextResponse("POST /messages");
  const lost = bench.answer(conversation, { turnId: "turn-1", text: longText }).catch(() => undefined);
  await bench.fake.until(() => bench.said("t").length === 1);

  await bench.crash();
  await lost;
  await bench.answer(conversation, { turnId: "turn-1", text: longText });
  release();

  assert.deepEqual(bench.said("t"), [longText.trim()]);
});

Deno.test("an answer follows its topic through rename, resolve and a queue lost meanwhile", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "old", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  await bench.answer(conversation, { turnId: "turn-1", text: "first" });

  bench.fake.renameTopic("King Hamlet", "general", "old", "new");
  bench.fake.resolveTopic("King Hamlet", "general", "new");
  bench.fake.say("King Hamlet", "general", "✔ new", "more");
  await bench.heard("more");
  await bench.answer(conversation, { turnId: "turn-2", text: "second" });

  assert.deepEqual(bench.said("✔ new"), ["first", "second"]);
  assert.deepEqual(bench.said("new"), []);
});

Deno.test("an answer that crossed a rename on its way is moved after its topic", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "old", "@**Callboard** go");
  const { conversation } = await bench.heard("go");

  const release = bench.fake.holdEvents();
  bench.fake.renameTopic("King Hamlet", "general", "old", "new");
  await bench.answer(conversation, { turnId: "turn-1", text: "late" });
  const strayed = bench.said("old");
  release();
  await bench.fake.until(() => bench.said("new").length === 1);

  assert.deepEqual([strayed, bench.said("old"), bench.said("new")], [["late"], [], ["late"]]);
});

Deno.test("the answer stands below a card that came after the streamed beginning", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  bench.gateway.ephemeral?.(
    bench.context.delivery({
      type: "topic.progress",
      from: `conversation/${conversation}`,
      payload: { turnId: "turn-1", version: 1, text: longText, status: "" },
    }).message,
  );
  await bench.fake.until(() => bench.said("t").length === 1);
  await bench.gateway.handle(
    bench.context.delivery({
      type: "topic.note",
      from: "supervisor",
      payload: { conversation, key: "n", text: "a note" },
    }),
  );

  await bench.answer(conversation, { turnId: "turn-1", text: `${longText}and more` });

  assert.deepEqual(bench.said("t"), ["a note", `${longText}and more`]);
});

Deno.test("a conversation writes in its own topic alone, and takes no key from anybody", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "own", "@**Callboard** go");
  const { conversation: own } = await bench.heard("go");
  bench.fake.say("King Hamlet", "general", "other", "@**Callboard** run");
  const { conversation: other } = await bench.heard("run");
  const note = (from: string, text: string) =>
    bench.gateway.handle(
      bench.context.delivery({ type: "topic.note", from, payload: { conversation: other, key: "k", text } }),
    );

  await note(`conversation/${own}`, "mine");
  await note("approval", "theirs");

  assert.deepEqual(bench.said("own"), ["mine"]);
  assert.deepEqual(bench.said("other"), ["theirs"]);
});

Deno.test("a post that the queue shows just before it would be sent again is adopted", async () => {
  const clock = new FakeClock();
  let sent = 0;
  const poster = new Poster({
    client: {
      sendMessage: () => Promise.reject(new ZulipError(`POST ${++sent}`, { kind: "network" })),
      getMessages: () =>
        Promise.resolve({
          messages: [],
          foundAnchor: false,
          foundOldest: true,
          foundNewest: true,
          historyLimited: false,
        }),
      deleteMessage: () => Promise.resolve(),
    },
    clock,
    settleAfterMs: 0,
    signal: new AbortController().signal,
    newId: () => "local",
    botId: () => 1,
    queueId: () => null,
    newestId: () => 0,
    maxMessageLength: () => 10_000,
    widgetOf: () => undefined,
    mayAct: () => true,
    commit: async (effects) => {
      if (effects.ops?.[0]?.op === "post.again") await poster.echoed("local", 7);
      return { ok: true };
    },
    read: () => Promise.resolve(null),
    log: () => {},
  });

  const posting = await poster.post({ key: "k", conversation: "c", target: { userIds: [2] }, body: "late" });

  assert.deepEqual(posting, { ok: true, messageId: 7, fresh: true });
  assert.equal(sent, 1);
});
