/** Proves whom the gate tells on their devices, and when: against a real database, with hand-driven time. */
import assert from "node:assert/strict";
import { sql } from "../../../store/db.ts";
import { getItem } from "../../../store/queries/items.ts";
import {
  type ApprovalDesk,
  decided,
  furnished,
  gate,
  itemState,
  owner,
} from "../../../tests/doubles/approval_desk.ts";

/** A browser of Ada's, the owner, takes messages; so does one of Cy's, who only looks. */
async function withBrowsers(desk: ApprovalDesk): Promise<void> {
  await desk.db.batch([
    sql("INSERT INTO devices (id, user_id, name, created_at, seen_at) VALUES ('d3', 'u3', 'phone', 1, 1)"),
    ...["d1", "d3"].map((device) =>
      sql(
        "INSERT INTO push_subscriptions (id, device_id, endpoint, p256dh, auth, created_at) VALUES (?, ?, ?, 'p', 'a', 1)",
        device,
        device,
        device,
      )
    ),
  ]);
  await desk.restart();
}

const told = async (desk: ApprovalDesk) =>
  (await desk.sent()).filter(({ to }) => to === "push").map(({ type, payload }) =>
    `${type} ${payload.userIds ?? ""}`.trim()
  );

Deno.test("whoever may decide and has a device is told on it, and that it is over", async () => {
  await using desk = await furnished();
  await withBrowsers(desk);

  const id = await desk.judge("a", "exec_command");
  const asked = await told(desk);
  await decided(desk, id, { decision: "allow_once" });

  assert.deepEqual(asked, ["push.item u1"], "Bo has no device, Cy may not decide");
  assert.deepEqual(await told(desk), ["push.item u1", "push.settled"]);
});

Deno.test("what policy decides is told nobody, and without a device the gateway hears nothing", async () => {
  await using desk = await furnished();
  const id = await desk.judge("a", "exec_command");
  await decided(desk, id, { decision: "allow_once" });
  const without = await told(desk);

  await withBrowsers(desk);
  await desk.judge("b", "read_file", { class: "read", outside: ["/etc/passwd"] });

  assert.deepEqual([...without, ...await told(desk)], []);
});

Deno.test("who gets a device or gives it up is known at once", async () => {
  await using desk = await furnished();
  const people = (takesPush: boolean) => ({
    users: [{
      id: "u1",
      name: "Ada",
      role: "owner",
      zulipUserId: 11,
      channels: [],
      ...(takesPush ? { takesPush } : {}),
    }],
  });

  await desk.post("edge", "people.known", people(true));
  await desk.judge("a", "exec_command");
  await desk.post("edge", "people.known", people(false));
  await desk.judge("b", "exec_command");

  assert.deepEqual(await told(desk), ["push.item u1"]);
});

Deno.test("in the quiet hours no device is woken: the message waits for their end", async () => {
  await using desk = await furnished();
  await withBrowsers(desk);
  desk.now = Date.UTC(2026, 10, 30, 23, 30);
  await gate(desk, { quietHours: { from: 22, to: 7 }, timeZone: "UTC" });

  await desk.judge("a", "exec_command");

  const row = await desk.row("SELECT not_before AS at FROM messages WHERE type = 'push.item'");
  assert.equal(row?.at, Date.UTC(2026, 11, 1, 7));
});

Deno.test("a reminder, and being asked by somebody else, are reasons of their own", async () => {
  await using desk = await furnished();
  await withBrowsers(desk);
  await gate(desk, { remindSeconds: 3_600 });
  const id = await desk.judge("a", "exec_command");

  desk.now += 3_600_000;
  await desk.work();
  const by = { userId: "u2", name: "Bo", surface: "web", role: "approver" };
  await desk.post("edge", "item.marked", { itemId: id, marked: { mark: "delegated", userId: "u1" }, by });

  const keys = (await desk.sent("push.item")).map(({ payload }) => payload.key);
  assert.equal(new Set(keys).size, 3);
  assert.deepEqual(await told(desk), ["push.item u1", "push.item u1", "push.item u1"]);
});

Deno.test("an item that went to a device says that it was delivered, at its first message, in the same version", async () => {
  await using desk = await furnished();
  await withBrowsers(desk);
  const id = await desk.judge("a", "exec_command") ?? "";

  const before = await getItem(desk.db, id, owner);
  await desk.post("push", "push.sent", { itemId: id });
  const after = await getItem(desk.db, id, owner);
  desk.now += 1_000;
  await desk.post("push", "push.sent", { itemId: id });

  assert.equal(before?.deliveredAt, undefined);
  assert.equal(after?.deliveredAt, desk.now - 1_000);
  assert.equal(after?.version, before?.version);
  assert.equal((await getItem(desk.db, id, owner))?.deliveredAt, desk.now - 1_000);
  assert.equal(await itemState(desk, id), "waiting");
});
