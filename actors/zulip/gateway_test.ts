/** Proves the gateway's ways in and out against the fake server, faults and crashes included. */
import assert from "node:assert/strict";
import { sql } from "../../store/db.ts";
import { waitingCard } from "../../tests/doubles/card_show.ts";
import { ZulipBench as Bench } from "../../tests/doubles/zulip_bench.ts";

const longText = "An answer that is long enough to be worth a message of its own. ";

Deno.test("a mention opens a conversation, and later messages of the topic belong to it unaddressed", async () => {
  await using bench = await Bench.open();

  bench.fake.say("King Hamlet", "general", "lunch", "@**Callboard** what is there?");
  const first = await bench.heard("what is there?");
  bench.fake.say("Iago", "general", "lunch", "soup, I hope");
  const second = await bench.heard("soup, I hope");

  assert.equal(second.conversation, first.conversation);
  assert.deepEqual([first.addressed, second.addressed], [true, false]);
});

Deno.test("what nobody addressed to the bot reaches no conversation", async () => {
  await using bench = await Bench.open();

  bench.fake.say("King Hamlet", "general", "chat", "nobody called you");
  bench.fake.say("King Hamlet", "ops", "chat", "@**Callboard** not served here");
  bench.fake.notice("general", "chat", "@**Callboard** says the system");
  bench.fake.say("King Hamlet", "general", "chat", "@**Callboard** you");
  await bench.heard("you");

  assert.equal(bench.context.sent.filter(({ type }) => type === "conversation.message").length, 1);
});

Deno.test("one message that comes by queue and four times by webhook counts once", async () => {
  await using bench = await Bench.open();
  const message = bench.fake.say("King Hamlet", "general", "twice", "@**Callboard** once please");
  await bench.heard("once please");

  for (let delivery = 0; delivery < 4; delivery++) {
    const response = await fetch(`${bench.site}/api/v1/messages/${message.id}?apply_markdown=false`, {
      headers: { authorization: `Basic ${btoa(`${bench.fake.bot.email}:${bench.fake.bot.apiKey}`)}` },
    });
    const body = await response.json();
    const effects = await bench.gateway.handle(
      bench.context.delivery({
        type: "zulip.received",
        from: "edge",
        payload: { realm: bench.site, messageId: message.id, message: body.message },
      }),
    );
    await bench.context.commit(effects ?? {});
  }

  assert.equal(bench.context.sent.filter(({ type }) => type === "conversation.message").length, 1);
});

Deno.test("messages in a gap after a lost queue are recovered once and in order", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** one");
  await bench.heard("one");

  const release = bench.fake.holdEvents();
  bench.fake.say("King Hamlet", "general", "t", "two");
  bench.fake.say("King Hamlet", "general", "t", "three");
  bench.fake.loseQueues();
  release();
  await bench.heard("three");

  const texts = bench.context.sent.filter(({ type }) => type === "conversation.message")
    .map(({ payload }) => (payload as { text: string }).text);
  assert.deepEqual(texts, ["one", "two", "three"]);
});

Deno.test("a realm restored from a backup, which gives numbers out again, is served on", async () => {
  await using bench = await Bench.open();
  const kept = bench.fake.say("King Hamlet", "general", "t", "@**Callboard** one");
  const { conversation } = await bench.heard("one");
  bench.fake.say("King Hamlet", "general", "t", "lost with the backup");
  await bench.heard("lost with the backup");
  for (const n of [1, 2, 3]) {
    await bench.answer(conversation, { turnId: `turn-${n}`, text: `${longText}${n}` });
  }

  const release = bench.fake.holdEvents();
  bench.fake.restore(kept.id);
  bench.later(60_000);
  release();
  await bench.fake.until(() =>
    bench.fake.requestsTo("POST /register").length === 2 && bench.fake.waitingPolls > 0
  );
  bench.fake.say("King Hamlet", "general", "t", "two");
  const heard = await bench.heard("two");
  await bench.answer(conversation, { turnId: "turn-4", text: `${longText}4` });

  assert.equal(heard.conversation, conversation);
  assert.deepEqual(bench.said("t"), [`${longText}4`]);
  assert.ok(bench.context.logged.some((line) => /number out again/.test(line)));
});

Deno.test("a card is shown with what can decide it, and settles by an edit", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  const item = { ...waitingCard(), conversation };

  await bench.show(item);
  const shown = bench.context.sent.find(({ type }) => type === "card.shown");
  const [card] = bench.fake.messagesIn("general", "t").filter(({ senderId }) =>
    senderId === bench.fake.bot.id
  );
  await bench.gateway.handle(
    bench.context.delivery({
      type: "card.show",
      from: "approval",
      payload: { ...item, version: 2, state: "applied", decision: "allow_once", decidedBy: "Olivia" },
    }),
  );

  assert.ok(card);
  assert.deepEqual(shown?.payload, {
    itemId: "item-1",
    version: 1,
    messageId: card.id,
    whole: true,
  });
  assert.deepEqual(bench.said("t").length, 1);
  assert.match(bench.said("t")[0] ?? "", /^\*\*✅ Allowed once by Olivia:\*\* `exec_command`/);
});

Deno.test("a note to one person is a message to them alone, once, with the way to the item", async () => {
  await using bench = await Bench.open();
  const { fake } = bench;
  const payload = {
    zulipUserId: fake.hamlet.id,
    itemId: "i1",
    key: "escalate/i1/1",
    text: "It waits for you.",
  };

  for (let time = 0; time < 2; time++) {
    await bench.gateway.handle(bench.context.delivery({ type: "person.note", from: "approval", payload }));
  }

  const said = fake.directMessages(fake.hamlet, fake.bot).map(({ content }) => content);
  assert.deepEqual(said, ["It waits for you. [Open it](http://inbox.test/inbox/i1)"]);
});

Deno.test("!model takes what can be used here and refuses the rest with a list", async () => {
  const providers = [{ name: "anthropic", models: ["claude-a"] }];
  await using bench = await Bench.open({ providers, defaultModel: "other/usual" });
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  await bench.heard("go");

  bench.fake.say("King Hamlet", "general", "t", "!model anthropic/claude-b");
  await bench.fake.until(() => bench.said("t").length === 1);
  bench.fake.say("King Hamlet", "general", "t", "!model acme/claude-a");
  await bench.fake.until(() => bench.said("t").length === 2);
  bench.fake.say("King Hamlet", "general", "t", "!model anthropic/claude-a");
  bench.fake.say("King Hamlet", "general", "t", "!model other/usual");
  const chosen = () => bench.context.sent.filter(({ type }) => type === "conversation.set_model");
  await bench.context.until(() => chosen().length === 2);

  assert.match(bench.said("t")[0] ?? "", /has no model `claude-b`.* It has: `anthropic\/claude-a`/);
  assert.match(bench.said("t")[1] ?? "", /no provider `acme` here.* Choose from: `anthropic\/claude-a`/);
  assert.deepEqual(chosen().map(({ payload }) => (payload as { model: string }).model), [
    "anthropic/claude-a",
    "other/usual",
  ]);
});

Deno.test("commands are carried out without a turn and without opening a conversation", async () => {
  await using bench = await Bench.open();

  bench.fake.say("King Hamlet", "general", "fresh", "@**Callboard** !stop");
  await bench.fake.until(() => bench.said("fresh").length === 1);
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  await bench.heard("go");
  bench.fake.say("King Hamlet", "general", "t", "!STOP");
  const stop = await bench.context.until(({ type }) => type === "conversation.stop");
  bench.fake.say("King Hamlet", "general", "t", "!wat");
  await bench.fake.until(() => bench.said("t").length === 1);

  assert.match(bench.said("fresh")[0] ?? "", /no conversation/);
  assert.match(stop.to, /^conversation\//);
  assert.match(bench.said("t")[0] ?? "", /no command `!wat`/);
});

Deno.test("a command in a topic without a conversation needs a mention, as !help says", async () => {
  await using bench = await Bench.open();

  bench.fake.say("King Hamlet", "general", "fresh", "!status");
  bench.fake.say("King Hamlet", "general", "fresh", "@**Callboard** !help");
  await bench.fake.until(() => bench.said("fresh").length === 1);

  assert.match(bench.said("fresh")[0] ?? "", /where no conversation has begun, a command needs a mention/);
});

Deno.test("!status names the conversation by its title, which mentions nobody, and counts one turn as one", async () => {
  await using bench = await Bench.open();
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  const rows = [["general > @**all** `t`", 1], ["", 2]] as const;

  for (const [title, turns] of rows) {
    await bench.db.batch([
      sql("DELETE FROM conversations WHERE id = ?", conversation),
      sql(
        `INSERT INTO conversations (id, title, source, profile, status, turns, created_at, updated_at) VALUES (?, ?, 'zulip', 'default', 'idle', ?, 1, 1)`,
        conversation,
        title,
        turns,
      ),
    ]);
    const before = bench.said("t").length;
    bench.fake.say("King Hamlet", "general", "t", "!status");
    await bench.fake.until(() => bench.said("t").length > before);
  }

  assert.match(
    bench.said("t")[0] ?? "",
    /^Conversation `` general > @\*\*all\*\* `t` ``: \*\*idle\*\*, 1 turn(?!s)/,
  );
  assert.match(bench.said("t")[1] ?? "", /\*\*idle\*\*, 2 turns/);
});
