/** Proves that what people do to a card reaches approval, whenever and in whatever way they did it, and nobody else. */
import assert from "node:assert/strict";
import type { Send } from "../../runtime/actor.ts";
import { sql } from "../../store/db.ts";
import { waitingCard } from "../../tests/doubles/card_show.ts";
import { FakeZulip } from "../../tests/doubles/fake_zulip/mod.ts";
import { ZulipBench } from "../../tests/doubles/zulip_bench.ts";
import type { ZulipConfig } from "./config.ts";

/** A conversation in a topic with a waiting card. */
async function withCard(config: Partial<ZulipConfig> = {}) {
  const bench = await ZulipBench.open({ buttons: true, ...config });
  bench.fake.say("King Hamlet", "general", "t", "@**Callboard** go");
  const { conversation } = await bench.heard("go");
  const item = { ...waitingCard(), conversation };
  const cardId = await shown(bench, item);
  return { bench, item, conversation, cardId };
}

/** Shows the card, and does to the item's row what approval then does. */
async function shown(bench: ZulipBench, item: Readonly<Record<string, unknown>>): Promise<number> {
  await bench.show(item);
  const told = bench.context.sent.findLast(({ type }) => type === "card.shown");
  const { messageId } = told?.payload as { messageId: number };
  await bench.db.batch([
    sql(
      `INSERT INTO pending_items (id, kind, state, version, conversation, created_at, updated_at, card_message_id)
       VALUES ('item-1', 'approval', 'waiting', 1, 'c', 1, 1, ?) ON CONFLICT (id) DO UPDATE SET card_message_id = excluded.card_message_id`,
      messageId,
    ),
  ]);
  return messageId;
}

const reacts = ({ type }: Send) => type === "approval.react";

/** What approval heard, the bench's own order. */
function heard(bench: ZulipBench): unknown[] {
  return bench.context.sent.filter(reacts).map(({ payload }) => payload);
}

/** The form under the card, as a web client reads it. */
function replies(bench: ZulipBench): string[] {
  const form = bench.fake.messagesIn("general", "t").findLast(({ submessages }) => submessages.length > 0);
  const { extra_data } = JSON.parse(form?.submessages[0]?.content ?? "{}");
  return extra_data.choices.map(({ reply }: { reply: string }) => reply);
}

Deno.test("a reaction goes to approval whoever it is from, a bot's to nobody", async () => {
  const { bench, cardId } = await withCard({ allowedUserIds: [] });
  await using _ = bench;
  bench.fake.addUser("Other Bot", { botType: 1, channels: ["general"] });
  await bench.crash();

  bench.fake.react("Other Bot", cardId, "-1");
  bench.fake.react("Iago", cardId, "+1");
  await bench.context.until(reacts);

  assert.deepEqual(heard(bench), [
    { messageId: cardId, zulipUserId: bench.fake.iago.id, name: "Iago", emoji: "+1" },
  ]);
});

Deno.test("somebody whom the bot does not obey may still be one who decides: approval hears the reaction", async () => {
  const { bench, cardId } = await withCard({ allowedUserIds: [new FakeZulip().hamlet.id] });
  await using _ = bench;

  bench.fake.react("Iago", cardId, "+1");
  await bench.context.until(reacts);
  bench.fake.say("Iago", "general", "t", replies(bench)[1] ?? "");
  await bench.context.until(({ payload }) => (payload as { emoji?: string }).emoji === "-1");

  assert.equal(heard(bench).length, 2);
});

Deno.test("reactions made while the queue was lost are heard, refusals first", async () => {
  const { bench, cardId } = await withCard();
  await using _ = bench;

  const release = bench.fake.holdEvents();
  bench.fake.react("King Hamlet", cardId, "+1");
  bench.fake.react("Iago", cardId, "-1");
  bench.fake.loseQueues();
  release();
  await bench.context.until(({ type, payload }) =>
    type === "approval.react" && (payload as { emoji: string }).emoji === "+1"
  );

  const { hamlet, iago } = bench.fake;
  assert.deepEqual(heard(bench), [
    { messageId: cardId, zulipUserId: iago.id, name: "Iago", emoji: "-1", standing: true },
    { messageId: cardId, zulipUserId: hamlet.id, name: "King Hamlet", emoji: "+1", standing: true },
  ]);
});

Deno.test("a card that the bot never received itself is no deleted one", async () => {
  const { bench, cardId } = await withCard();
  await using _ = bench;
  bench.fake.message(cardId).rows.delete(bench.fake.bot.id);
  const release = bench.fake.holdEvents();
  bench.fake.react("Iago", cardId, "+1");
  bench.fake.loseQueues();
  release();

  await bench.context.until(reacts);

  assert.ok(!bench.context.sent.some(({ type }) => type === "card.gone"));
});

Deno.test("a reaction to a card whose posting was still in doubt is heard, after the card", async () => {
  const { bench, item } = await withCard({ settleAfterMs: 60_000 });
  await using _ = bench;

  bench.fake.holdEvents();
  bench.fake.dropNextResponse("POST /messages");
  bench.fake.failNext("GET /messages");
  const showing = bench.show({ ...item, itemId: "item-2" });
  const [, , card] = await bench.fake.until(() => {
    const own = bench.fake.messagesIn("general", "t").filter(({ senderId }) =>
      senderId === bench.fake.bot.id
    );
    return own.length === 3 ? own : undefined;
  });
  bench.fake.react("Iago", card?.id ?? 0, "-1");
  await showing;

  const order = bench.context.sent.filter(({ payload }) =>
    (payload as { messageId?: number }).messageId === card?.id
  );
  assert.deepEqual(order.map(({ type }) => type), ["card.shown", "approval.react"]);
});

Deno.test("a pressed button is a decision of that card and version, and no turn", async () => {
  const { bench, cardId, conversation } = await withCard();
  await using _ = bench;
  const [allow = ""] = replies(bench);

  bench.fake.say("Iago", "general", "t", allow);
  await bench.context.until(reacts);

  assert.deepEqual(heard(bench), [{
    messageId: cardId,
    zulipUserId: bench.fake.iago.id,
    name: "Iago",
    emoji: "+1",
    button: { version: 1, conversation },
  }]);
  assert.equal(bench.context.sent.filter(({ type }) => type === "conversation.message").length, 1);
});

Deno.test("a button's message that comes by queue and by webhook is heard once", async () => {
  const { bench } = await withCard();
  await using _ = bench;
  const pressed = bench.fake.say("Iago", "general", "t", replies(bench)[0] ?? "");
  await bench.context.until(reacts);

  const response = await fetch(`${bench.site}/api/v1/messages/${pressed.id}?apply_markdown=false`, {
    headers: { authorization: `Basic ${btoa(`${bench.fake.bot.email}:${bench.fake.bot.apiKey}`)}` },
  });
  const { message } = await response.json();
  const payload = { realm: bench.site, messageId: pressed.id, message };
  const again = await bench.gateway.handle(
    bench.context.delivery({ type: "zulip.received", from: "edge", payload }),
  );
  await bench.context.commit(again ?? {});

  assert.equal(again?.send?.length, 1, "the webhook's copy is no other message");
  assert.equal(heard(bench).length, 1);
});

Deno.test("a choice that is of another topic, made up or old-fashioned decides nothing and is no turn", async () => {
  const { bench } = await withCard();
  await using _ = bench;
  const [allow = "", reject = ""] = replies(bench);
  bench.fake.say("Iago", "general", "other", "@**Callboard** hello");
  await bench.heard("hello");

  bench.fake.say("Iago", "general", "other", allow);
  await bench.fake.until(() => bench.said("other").length === 1);
  bench.fake.say("Iago", "general", "t", reject.replace(/\w{8}$/, "00000000"));
  bench.fake.say("Iago", "general", "t", "!allow it");
  await bench.fake.until(() => bench.said("t").length === 4);

  assert.deepEqual(heard(bench), []);
  assert.match(bench.said("other")[0] ?? "", /No card in this topic/);
  assert.match(bench.said("t")[2] ?? "", /No card in this topic/);
  assert.match(bench.said("t")[3] ?? "", /nothing was decided/);
  assert.equal(bench.context.sent.filter(({ type }) => type === "conversation.message").length, 2);
});

Deno.test("while somebody else's form stands in the topic no choice by message is believed", async () => {
  const { bench } = await withCard();
  await using _ = bench;
  const [allow = ""] = replies(bench);
  bench.fake.say("King Hamlet", "general", "t", "Lunch?", {
    widget: JSON.stringify({
      widget_type: "zform",
      extra_data: { type: "choices", heading: "Lunch?", choices: [{ long_name: "Soup", reply: allow }] },
    }),
  });

  bench.fake.say("Iago", "general", "t", allow);
  await bench.fake.until(() => bench.said("t").some((text) => /else's form/.test(text)));

  assert.deepEqual(heard(bench), []);
});

Deno.test("buttons go when the item is decided, and a new version gets its own", async () => {
  const { bench, item } = await withCard();
  await using _ = bench;
  const [first = ""] = replies(bench);

  await shown(bench, { ...item, version: 3 });
  const forms = () =>
    bench.fake.messagesIn("general", "t").filter(({ submessages }) => submessages.length > 0);
  const [second = ""] = replies(bench);
  assert.equal(forms().length, 1);
  await bench.show({ ...item, version: 3, state: "applied", decision: "allow_once", decidedBy: "Olivia" });

  assert.notEqual(first, second);
  assert.equal(forms().length, 0);
  assert.match(bench.said("t")[0] ?? "", /Allowed once by Olivia/);
});

Deno.test("cards without buttons, when the configuration says so", async () => {
  const { bench } = await withCard({ buttons: false });
  await using _ = bench;

  assert.equal(bench.said("t").length, 1);
});

Deno.test("a deleted card is asked for again and posted once more, and no third time", async () => {
  const { bench, item, cardId } = await withCard({ buttons: false });
  await using _ = bench;
  const gone = (messageId: number) => ({ type, payload }: Send) =>
    type === "card.gone" && (payload as { messageId: number }).messageId === messageId;

  bench.fake.delete(bench.fake.owner, cardId);
  await bench.context.until(gone(cardId));
  const secondId = await shown(bench, item);
  const standing = bench.said("t").length;
  // While nobody listens.
  const release = bench.fake.holdEvents();
  bench.fake.delete(bench.fake.owner, secondId);
  bench.fake.loseQueues();
  release();
  await bench.context.until(gone(secondId));
  await bench.show(item);

  assert.notEqual(secondId, cardId);
  assert.deepEqual([standing, bench.said("t").length], [1, 0]);
});
