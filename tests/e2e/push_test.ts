/**
 * From a tool call to somebody's pocket and back, with real processes and a push service on loopback: the message is encrypted to the browser, the
 * item says that it was delivered, a killed gateway loses nothing, and a decision elsewhere is told to the device.
 */
import assert from "node:assert/strict";
import type { PushState } from "../../edge/api.ts";
import { call, say } from "../doubles/fake_model/script.ts";
import { FakePush } from "../doubles/fake_push/fake_push.ts";
import { World } from "./world.ts";

Deno.test("what waits is on the phone within seconds, says there when it was decided elsewhere, and survives a kill", async () => {
  let publicKey = "";
  const service = new FakePush(() => publicKey);
  try {
    await using world = await World.open({ env: { PUSH_TEST_ORIGIN: service.origin } });
    world.model.script(({ messages }) => {
      const result = messages.findLast(({ role }) => role === "tool");
      return result
        ? [say(`the tool said: ${result.text}`)]
        : [call("exec_command", { command: "echo the-secret-argument" }, "call_1")];
    });
    const offered = await world.get<PushState>("/api/push");
    publicKey = offered.publicKey ?? "";
    const asleep = (await world.actors()).find(({ ref }) => ref === "push");
    const phone = await service.subscribe("phone");
    const put = await world.send("/api/push/subscription", phone, "PUT");
    assert.equal(put.status, 200, await put.text());
    await world.send("/api/push/test", {});
    await world.until(() => Promise.resolve(service.received.length === 1));
    // The gateway is killed, and the first try of the next message fails as well.
    service.answers.push({ status: 503, headers: { "retry-after": "0" } });
    await world.kill("push");

    world.zulip.say("King Hamlet", "general", "deploy", "@**Callboard** run it");
    const item = await world.waiting();
    await world.until(() => Promise.resolve(service.received.length === 2));
    const delivered = await world.waiting(({ deliveredAt }) => deliveredAt !== undefined);
    const state = await world.until(async () => {
      const { subscription } = await world.get<PushState>("/api/push");
      return subscription?.last && subscription;
    });
    // Decided by nobody on this device: the topic's reaction is somebody else's.
    world.zulip.say("King Hamlet", "general", "deploy", "@**Callboard** !stop");
    await world.until(() => Promise.resolve(service.received.length === 3));

    const [test, waiting, settled] = service.received.map(({ notice }) => notice);
    assert.deepEqual(service.complaints, []);
    assert.equal(asleep?.state, "sleeping", "it does not run before there is something to send");
    assert.deepEqual(test, { v: 1, about: "test" });
    assert.deepEqual([waiting?.["about"], waiting?.["itemId"], waiting?.["tool"]], [
      "waiting",
      item.id,
      "exec_command",
    ]);
    assert.deepEqual([settled?.["about"], settled?.["itemId"]], ["settled", item.id]);
    assert.doesNotMatch(JSON.stringify(service.received), /secret-argument/);
    assert.equal(delivered.id, item.id);
    assert.deepEqual([state.test?.state, state.last?.state], ["sent", "sent"]);
  } finally {
    await service.close();
  }
});
