import assert from "node:assert/strict";
import { World } from "./world.ts";

Deno.test("a mention in a topic is answered in it", async () => {
  await using world = await World.open();

  world.zulip.say(
    "King Hamlet",
    "general",
    "hello",
    "@**Callboard** good morning to you all, and to the bot above all",
  );
  const answer = await world.answered("hello", /echo:/);

  assert.match(answer, /good morning/);
  assert.equal(world.answers("hello").length, 1);
});

Deno.test("a shell command waits in the inbox, runs once when it is approved, and its output is in the answer", async () => {
  await using world = await World.open();

  world.zulip.say(
    "King Hamlet",
    "general",
    "disk",
    `@**Callboard** please run it\ntool:exec_command {"command":"echo ran >> effects.txt; echo the-disk-is-fine"}`,
  );
  const item = await world.waiting();
  const response = await world.decide(item, "allow_once");
  assert.equal(response.status, 200, await response.text());
  const answer = await world.answered("disk", /the-disk-is-fine/);

  assert.match(answer, /The tool answered/);
  assert.equal(world.answers("disk").length, 1);
  assert.equal(await world.workspaceFile(item.conversation.id, "effects.txt"), "ran\n");
});
