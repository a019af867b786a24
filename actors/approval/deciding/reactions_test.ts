/** Proves what buttons, reactions found standing, and deleted cards come to; what a plain reaction may do is in `people_test.ts`. */
import assert from "node:assert/strict";
import { type ApprovalDesk, furnished, itemState } from "../../../tests/doubles/approval_desk.ts";

async function withCard(desk: ApprovalDesk): Promise<string | undefined> {
  const id = await desk.judge("a", "exec_command");
  await desk.post("zulip", "card.shown", { itemId: id, version: 1, messageId: 900, whole: true });
  return id;
}

function press(desk: ApprovalDesk, zulipUserId: number, version: number, emoji = "+1"): Promise<void> {
  const button = { version, conversation: "c1" };
  return desk.post("zulip", "approval.react", { messageId: 900, zulipUserId, name: "Z", emoji, button });
}

async function notes(desk: ApprovalDesk): Promise<unknown[]> {
  return (await desk.sent("topic.note")).map(({ payload }) => payload.key);
}

Deno.test("a button decides for its own version, by somebody who may, and says when it is too late", async () => {
  await using desk = await furnished();
  const id = await withCard(desk);

  await press(desk, 13, 1);
  await press(desk, 12, 2);
  assert.equal(await itemState(desk, id), "waiting");
  await press(desk, 12, 1);
  assert.equal(await itemState(desk, id), "applied");
  await press(desk, 11, 1, "-1");

  assert.equal((await desk.sent("tool.run")).length, 1);
  assert.deepEqual(await notes(desk), [
    `react/${id}/not_linked/13`,
    "react/900/too_late/12",
    "react/900/too_late/11",
  ]);
});

Deno.test("a reaction found standing decides like any other", async () => {
  await using desk = await furnished();
  const id = await withCard(desk);

  await desk.post("zulip", "approval.react", {
    messageId: 900,
    zulipUserId: 12,
    name: "Z",
    emoji: "+1",
    standing: true,
  });

  assert.equal(await itemState(desk, id), "applied");
});

Deno.test("a deleted card of an open item is shown again, and nothing on the deleted one counts", async () => {
  await using desk = await furnished();
  const id = await withCard(desk);
  const before = (await desk.sent("card.show")).length;

  await desk.post("zulip", "card.gone", { messageId: 901 });
  await desk.post("zulip", "card.gone", { messageId: 900 });
  await press(desk, 12, 1);

  const shown = await desk.sent("card.show");
  assert.equal(shown.length, before + 1);
  assert.deepEqual([shown.at(-1)?.payload.itemId, shown.at(-1)?.payload.state], [id, "waiting"]);
  assert.equal(await itemState(desk, id), "waiting");
});

Deno.test("a card offers reactions when there is somebody in Zulip whose reaction counts there", async () => {
  await using desk = await furnished();
  const people = (zulipUserId: number | null, channels: number[]) =>
    desk.post("edge", "people.known", {
      users: [{ id: "u2", name: "Bo", role: "approver", zulipUserId, channels, sessionUntil: null }],
    });
  const offered = async () => (await desk.sent("card.show")).at(-1)?.payload.reactions;

  await people(12, [5]);
  await desk.judge("a", "exec_command");
  const linked = await offered();
  await people(12, [6]);
  await desk.judge("b", "exec_command");
  const elsewhere = await offered();
  await people(null, [5]);
  await desk.judge("c", "exec_command");

  assert.deepEqual([linked, elsewhere, await offered()], [true, false, false]);
});
