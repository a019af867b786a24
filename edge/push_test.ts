import assert from "node:assert/strict";
import { BrowserKeys } from "../tests/doubles/fake_push/browser_keys.ts";
import { type Bench, withBench } from "../tests/doubles/edge_bench.ts";
import type { PushState } from "./api.ts";

const pushKey = "B".padEnd(87, "A");
const pushing = { config: { pushKey } };

async function browser(endpoint = "https://fcm.googleapis.com/fcm/send/one") {
  const { p256dh, auth } = await BrowserKeys.make();
  return { endpoint, expirationTime: null, keys: { p256dh, auth } };
}

const subscriptions = (bench: Bench) =>
  bench.rows<{ device: string; user: string; endpoint: string }>(
    `SELECT p.device_id AS device, d.user_id AS user, p.endpoint FROM push_subscriptions p JOIN devices d ON d.id = p.device_id`,
  );
const messages = (bench: Bench, type: string) =>
  bench.rows<{ to: string; payload: string }>(
    "SELECT to_ref AS 'to', payload FROM messages WHERE type = ? ORDER BY seq",
    type,
  );

Deno.test("a device turns messages on and off for itself, and approval hears who can be told", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    const offered: PushState = await (await ada.get("/api/push")).json();

    const put = await ada.send("PUT", "/api/push/subscription", await browser());
    const on: PushState = await put.json();
    const known = (await messages(bench, "people.known")).at(-1);
    const removed = await ada.send("DELETE", "/api/push/subscription");
    const unknown = (await messages(bench, "people.known")).at(-1);

    assert.deepEqual(offered, { publicKey: pushKey });
    assert.equal(put.status, 200);
    assert.equal(on.subscription?.state, "on");
    assert.equal(JSON.parse(known?.payload ?? "").users[0].takesPush, true);
    assert.equal(removed.status, 204);
    assert.equal(JSON.parse(unknown?.payload ?? "").users[0].takesPush, undefined);
    assert.deepEqual(await subscriptions(bench), []);
  }, pushing);
});

Deno.test("no address but those of the browsers' push services is taken, so nobody makes the server call elsewhere", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    const bad = [
      "http://fcm.googleapis.com/x",
      "https://169.254.169.254/latest/meta-data",
      "https://localhost:8787/api/session",
      "https://fcm.googleapis.com.example.org/x",
      "http://127.0.0.1:4000/push/1",
    ];

    for (const endpoint of bad) {
      const answer = await ada.send("PUT", "/api/push/subscription", await browser(endpoint));
      assert.equal(answer.status, 400, endpoint);
    }

    assert.deepEqual(await subscriptions(bench), []);
  }, pushing);
});

Deno.test("keys that are none, and a server that cannot push, are refused", async () => {
  const good = await browser();
  await withBench(async (bench) => {
    const ada = await bench.owner();
    for (const keys of [{ ...good.keys, auth: "short" }, { ...good.keys, p256dh: "A".repeat(87) }]) {
      assert.equal((await ada.send("PUT", "/api/push/subscription", { ...good, keys })).status, 400);
    }
  }, pushing);
  await withBench(async (bench) => {
    const ada = await bench.owner();
    assert.deepEqual(await (await ada.get("/api/push")).json(), {});
    assert.equal((await ada.send("PUT", "/api/push/subscription", good)).status, 409);
  });
});

Deno.test("a browser in which somebody else signs in gets their messages and no longer the first one's", async () => {
  await withBench(async (bench) => {
    const same = await browser();
    const ada = await bench.owner();
    const bo = await bench.person("approver");

    await ada.send("PUT", "/api/push/subscription", same);
    await bo.send("PUT", "/api/push/subscription", same);

    assert.deepEqual((await subscriptions(bench)).map(({ user }) => user), ["approver-approve"]);
    assert.deepEqual(await (await ada.get("/api/push")).json(), { publicKey: pushKey });
  }, pushing);
});

Deno.test("signing out ends the device's messages", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    await ada.send("PUT", "/api/push/subscription", await browser());

    await ada.send("DELETE", "/api/session");

    assert.deepEqual(await bench.rows("SELECT id FROM push_subscriptions"), []);
  }, pushing);
});

Deno.test("a test message goes to the gateway for this device alone, not too often, and not to a blocked one", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    const without = await ada.post("/api/push/test");
    await ada.send("PUT", "/api/push/subscription", await browser());

    const first = await ada.post("/api/push/test");
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await ada.post("/api/push/test")).status);
    await bench.run("UPDATE push_subscriptions SET failed_at = 5, p256dh = '', auth = ''");
    await bench.clock.advance(60_000);
    const blocked = await ada.post("/api/push/test");
    const state: PushState = await (await ada.get("/api/push")).json();

    const [sent] = await messages(bench, "push.test");
    const [{ id } = { id: "" }] = await bench.rows<{ id: string }>("SELECT id FROM push_subscriptions");
    assert.equal(without.status, 409);
    assert.equal(first.status, 204);
    assert.deepEqual([sent?.to, JSON.parse(sent?.payload ?? "").subscriptionId], ["push", id]);
    assert.ok(bench.rung.includes("push"));
    assert.ok(statuses.includes(429));
    assert.equal(blocked.status, 409);
    assert.deepEqual([state.subscription?.state, state.subscription?.since], ["blocked", 5]);
  }, pushing);
});

Deno.test("an opened notification is noted once, for the session's own device, and decides nothing", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    await bench.conversation("c1");
    await bench.item("i1", "c1");
    await ada.send("PUT", "/api/push/subscription", await browser());

    const answers = [
      await ada.post("/api/push/clicked", { itemId: "i1" }),
      await ada.post("/api/push/clicked", { itemId: "i1" }),
    ];

    const [{ device } = { device: "" }] = await subscriptions(bench);
    assert.deepEqual(answers.map(({ status }) => status), [204, 204]);
    assert.deepEqual((await messages(bench, "push.clicked")).map(({ payload }) => JSON.parse(payload)), [
      { itemId: "i1", deviceId: device },
    ]);
    assert.deepEqual(await bench.rows("SELECT state FROM pending_items"), [{ state: "waiting" }]);
  }, pushing);
});

Deno.test("nobody without a session, and no other site, touches a device's messages", async () => {
  await withBench(async (bench) => {
    const ada = await bench.owner();
    const body = JSON.stringify(await browser());
    const init = { method: "PUT", headers: { "content-type": "application/json" }, body };

    const anonymous = await bench.app.request("/api/push/subscription", init);
    const forged = await ada.send("PUT", "/api/push/subscription", JSON.parse(body), {
      "x-callboard-csrf": "wrong",
    });

    assert.deepEqual([anonymous.status, forged.status], [401, 403]);
    assert.deepEqual(await subscriptions(bench), []);
  }, pushing);
});
