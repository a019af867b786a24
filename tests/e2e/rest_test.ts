/**
 * Nobody asks anything for a while: conversations, their host, the models gateway and the toolbox have no process any more. Everything is
 * still ready, and a decision that comes then is carried out.
 */
import assert from "node:assert/strict";
import { call, say } from "../doubles/fake_model/script.ts";
import { World } from "./world.ts";

Deno.test("a call is approved when everybody sleeps: they wake, it runs once, and the answer comes", async () => {
  await using world = await World.open({ env: { IDLE_SECONDS: "1" } });
  world.model.script(({ messages }) => {
    const result = messages.findLast(({ role }) => role === "tool");
    return result
      ? [say(`the tool said: ${result.text}`)]
      : [call("exec_command", { command: "echo ran >> effects.txt; echo the-output" }, "call_1")];
  });
  world.zulip.say("King Hamlet", "general", "t", "@**Callboard** run it");
  const item = await world.waiting();
  const asleep = ["models", "toolbox", `conversation/${item.conversation.id}`];
  await world.until(async () => {
    const actors = (await world.actors()).filter(({ ref }) => asleep.includes(ref));
    return actors.every(({ state, pid }) => state === "sleeping" && pid === undefined);
  });
  const ready = await fetch(`${world.supervisor.url}/readyz`);

  const response = await world.decide(item, "allow_once");
  await world.answered("t", /the-output/);

  assert.equal(ready.status, 200, await ready.text());
  assert.equal(response.status, 200);
  assert.equal(await world.workspaceFile(item.conversation.id, "effects.txt"), "ran\n");
});
