/**
 * A web chat without Zulip: the rehearsal model, a reminder that comes back by itself, and a chat that outlives its supervisor.
 */
import assert from "node:assert/strict";
import type { ConversationEvent } from "../../edge/api.ts";
import { World } from "./world.ts";

/** A chat through the API. */
async function chat(world: World, text: string): Promise<string> {
  const response = await world.send("/api/conversations", { text });
  assert.equal(response.status, 202, await response.clone().text());
  return (await response.json()).conversation;
}

async function events(world: World, conversation: string): Promise<ConversationEvent[]> {
  return (await world.get<{ events: ConversationEvent[] }>(
    `/api/conversations/${conversation}/events?after=0`,
  )).events;
}

/** The agent's finished messages. */
async function said(world: World, conversation: string): Promise<string[]> {
  return (await events(world, conversation)).filter(({ type }) => type === "agent_message")
    .map(({ payload }) => String((payload as { text: string }).text));
}

Deno.test("a reminder is allowed once, comes back by itself and is answered", async () => {
  await using world = await World.open();
  const conversation = await chat(
    world,
    `tool:schedule {"key":"tea","kind":"once","inSeconds":1,"prompt":"the tea is ready now"}`,
  );

  const item = await world.waiting();
  await (await world.decide(item, "allow_once")).body?.cancel();
  await world.until(async () =>
    (await said(world, conversation)).some((text) => /^echo: .*the tea is ready/.test(text))
  );

  const users = (await events(world, conversation)).filter(({ type }) => type === "user_message");
  assert.deepEqual(users.map(({ payload }) => (payload as { author: { kind: string } }).author.kind), [
    "web",
    "schedule",
  ]);
});

Deno.test("a chat goes on where it was when its supervisor is stopped and started", async () => {
  await using world = await World.open();
  const conversation = await chat(world, "the first words of a long friendship");
  await world.until(async () => (await said(world, conversation)).length === 1);

  await world.restart("SIGTERM");
  const response = await world.send(`/api/conversations/${conversation}/messages`, {
    text: "and the second words",
  });
  await response.body?.cancel();
  await world.until(async () => (await said(world, conversation)).length === 2);

  const seqs = (await events(world, conversation)).map(({ seq }) => seq);
  assert.deepEqual(seqs, seqs.map((_, index) => index + 1), "the log has no gap and no repeat");
  assert.match(JSON.stringify(world.model.requests.at(-1)?.messages), /first words of a long friendship/);
});

Deno.test("stopping a turn ends its model step and the conversation takes the next message", async () => {
  await using world = await World.open();
  world.model.script([[{ do: "text", chunks: ["never "] }, { do: "hang" }]]);
  const conversation = await chat(world, "tell me everything");
  await world.model.whenHanging();

  const stopped = await world.send(`/api/conversations/${conversation}/stop`, {});
  await stopped.body?.cancel();
  await world.until(async () =>
    (await events(world, conversation)).some(({ type }) => type === "turn_aborted")
  );
  const next = await world.send(`/api/conversations/${conversation}/messages`, { text: "something shorter" });
  await next.body?.cancel();
  await world.until(async () =>
    (await said(world, conversation)).some((text) => text.includes("something shorter"))
  );

  assert.equal((await events(world, conversation)).filter(({ type }) => type === "task_complete").length, 1);
});
