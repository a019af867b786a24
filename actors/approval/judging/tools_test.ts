/** Proves how a conversation learns what tools there are while no toolbox has spoken yet, and in whose name it asks; against a real database. */
import assert from "node:assert/strict";
import { ApprovalDesk, furnished } from "../../../tests/doubles/approval_desk.ts";

Deno.test("a turn waits until the toolbox has said what there is, asking often at first and then seldom", async () => {
  await using desk = await ApprovalDesk.open();
  await desk.post("conversation/c1", "tools.list", { turnId: "t1" });
  for (let second = 0; second < 600; second++) {
    desk.now += 1_000;
    await desk.work();
  }
  const asked = desk.commits;

  await desk.furnish();
  desk.now += 5_000;
  await desk.work();

  const listed = await desk.sent("tools.listed");
  assert.deepEqual(listed.map(({ to, payload }) => [to, payload.turnId]), [["conversation/c1", "t1"]]);
  assert.ok(asked > 50 && asked < 200, `${asked} times in ten minutes`);
});

Deno.test("a conversation asks for its own tools, whomever it names", async () => {
  await using desk = await furnished();

  await desk.post("conversation/c1", "tools.list", { turnId: "t1", onBehalfOf: "conversation/c2" });
  await desk.post("conversation/c1", "tools.list", { turnId: "t2", onBehalfOf: "zulip" });

  assert.deepEqual((await desk.sent("tools.listed")).map(({ to }) => to), [
    "conversation/c1",
    "conversation/c1",
  ]);
});
