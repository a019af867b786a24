/**
 * Many topics at once, deliveries that repeat, queues and answers that get lost: the fake Zulip ends up with one answer for each question.
 */
import assert from "node:assert/strict";
import { WEBHOOK_TOKEN, World } from "./world.ts";

Deno.test("twenty topics at once each get their own answer, once", async () => {
  await using world = await World.open();
  const topics = Array.from({ length: 20 }, (_, index) => `topic ${index}`);

  for (const topic of topics) {
    world.zulip.say(
      "King Hamlet",
      "general",
      topic,
      `@**Callboard** this is the question of ${topic}, which is long enough`,
    );
  }
  const answers = await Promise.all(topics.map((topic) => world.answered(topic, /echo:/)));
  await world.quiet();

  assert.deepEqual(answers.filter((answer, index) => !answer.includes(`question of ${topics[index]},`)), []);
  assert.deepEqual(topics.map((topic) => world.answers(topic).length), topics.map(() => 1));
});

Deno.test("a webhook delivered four times beside the queue is one question", async () => {
  await using world = await World.open();

  const message = world.zulip.say(
    "King Hamlet",
    "general",
    "hook",
    "@**Callboard** asked in two ways, answered in one",
  );
  const deliveries = await world.zulip.deliverWebhook(
    `${world.supervisor.url}/zulip/webhook`,
    WEBHOOK_TOKEN,
    message,
    4,
  );
  await world.answered("hook", /asked in two ways/);
  await world.quiet();

  assert.deepEqual(
    deliveries.map(({ status, body }) => [status, JSON.parse(body)]),
    Array(4).fill([200, { response_not_required: true }]),
  );
  assert.equal(world.answers("hook").length, 1);
  assert.equal(world.model.requests.length, 1);
});

Deno.test("messages in the gap of a lost queue are answered, once and in order", async () => {
  await using world = await World.open();
  world.zulip.say(
    "King Hamlet",
    "general",
    "gap",
    "@**Callboard** the first question, before the gap in the queue",
  );
  await world.answered("gap", /the first question/);

  const release = world.zulip.holdEvents();
  world.zulip.say("King Hamlet", "general", "gap", "the second question, which no queue will ever show");
  world.zulip.say("King Hamlet", "general", "gap", "the third question, which no queue will ever show");
  world.zulip.loseQueues();
  release();
  await world.answered("gap", /the third question/);
  await world.quiet();

  const order = world.answers("gap").map((text) => /the (\w+) question/.exec(text)?.[1]);
  assert.deepEqual(order, ["first", "second", "third"]);
});

Deno.test("an answer whose POST Zulip stored without answering stands once", async () => {
  await using world = await World.open();
  world.zulip.dropNextResponse("POST /messages");

  world.zulip.say(
    "King Hamlet",
    "general",
    "lost",
    "@**Callboard** a question whose answer will be lost on the way back",
  );
  await world.answered("lost", /lost on the way back/);
  await world.quiet();

  assert.equal(world.answers("lost").length, 1);
});

Deno.test("an answer whose POST never reached Zulip is sent again, once", async () => {
  await using world = await World.open();
  world.zulip.dropNextRequest("POST /messages");

  world.zulip.say(
    "King Hamlet",
    "general",
    "lost",
    "@**Callboard** a question whose answer will be lost on the way there",
  );
  await world.answered("lost", /lost on the way there/);
  await world.quiet();

  assert.equal(world.answers("lost").length, 1);
});

Deno.test("rate limits and outages of Zulip delay an answer and lose nothing", async () => {
  await using world = await World.open();
  world.zulip.rateLimitNext("POST /messages", 0.2, 2);
  world.zulip.failNext("POST /messages", { status: 502, html: true, times: 1 });

  world.zulip.say(
    "King Hamlet",
    "general",
    "rough",
    "@**Callboard** a question that is asked on a rough day",
  );
  await world.answered("rough", /on a rough day/);
  await world.quiet();

  assert.equal(world.answers("rough").length, 1);
});

Deno.test("a topic renamed and resolved during the turn gets its answer where it is now", async () => {
  await using world = await World.open();
  world.zulip.say(
    "King Hamlet",
    "general",
    "before",
    `@**Callboard** run\ntool:exec_command {"command":"echo moved"}`,
  );
  const item = await world.waiting();
  await world.zulip.until(() => world.cards("before").length === 1, 30_000);

  world.zulip.renameTopic("King Hamlet", "general", "before", "after");
  world.zulip.resolveTopic("King Hamlet", "general", "after");
  await world.decide(item, "allow_once").then((response) => response.body?.cancel());
  await world.answered("✔ after", /moved/);
  await world.quiet();

  assert.deepEqual([
    world.answers("before").length,
    world.answers("after").length,
    world.answers("✔ after").length,
  ], [0, 0, 1]);
});

Deno.test("an allowed person's reaction to the card decides it", async () => {
  await using world = await World.open();
  world.zulip.say(
    "King Hamlet",
    "general",
    "thumb",
    `@**Callboard** run\ntool:exec_command {"command":"echo by-thumb"}`,
  );
  const card = await world.zulip.until(() => world.cards("thumb")[0], 30_000);
  await world.zulip.until(() => world.zulip.message(card.id).reactions.length >= 2, 30_000);

  world.zulip.react("King Hamlet", card.id, "+1");
  await world.answered("thumb", /by-thumb/);
  await world.quiet();

  assert.match(world.cards("thumb")[0]?.content ?? "", /Allowed once by King Hamlet/);
});

Deno.test("a button under the card decides it, and is no turn", async () => {
  await using world = await World.open();
  world.zulip.say(
    "King Hamlet",
    "general",
    "press",
    `@**Callboard** run\ntool:exec_command {"command":"echo by-button"}`,
  );
  const form = await world.zulip.until(
    () => world.zulip.messagesIn("general", "press").find(({ submessages }) => submessages.length > 0),
    30_000,
  );
  const [allow] = JSON.parse(form.submessages[0]?.content ?? "{}").extra_data.choices;

  world.zulip.say("King Hamlet", "general", "press", allow.reply);
  await world.answered("press", /by-button/);
  await world.quiet();

  assert.match(world.cards("press")[0]?.content ?? "", /Allowed once by King Hamlet/);
  assert.equal(world.answers("press").length, 1);
});

Deno.test("a rejected call is not run and its note reaches the model", async () => {
  await using world = await World.open();
  world.zulip.say(
    "King Hamlet",
    "general",
    "no",
    `@**Callboard** run\ntool:exec_command {"command":"echo ran >> effects.txt"}`,
  );
  const item = await world.waiting();

  const response = await world.decide(item, "reject_once", { note: "not on a Friday" });
  await response.body?.cancel();
  const answer = await world.answered("no", /not on a Friday/);

  assert.match(answer, /reject/i);
  assert.equal(await world.workspaceFile(item.conversation.id, "effects.txt"), undefined);
});
