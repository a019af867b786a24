import assert from "node:assert/strict";
import { answered, Refusal, signedIn, type TestApp } from "../../tests/doubles/ui_app.ts";

const endpoint = "https://fcm.googleapis.com/fcm/send/one";
const subscribed = { publicKey: "K", subscription: { endpoint, state: "on", since: 1 } };

async function settings(): Promise<TestApp> {
  const test = await signedIn();
  test.answers.set("GET /push", () => ({ publicKey: "K" }));
  test.answers.set("PUT /push/subscription", () => subscribed);
  test.answers.set("DELETE /push/subscription", () => undefined);
  await test.app.push.load();
  return test;
}

const calls = ({ calls }: TestApp) => calls.map(({ call }) => call).filter((call) => / \/push/.test(call));

Deno.test("turning on asks the person, subscribes with the server's key and tells the server", async () => {
  const test = await settings();
  const { push } = test.app;
  const before = push.status.value;

  await push.turnOn();

  assert.deepEqual([before, push.status.value], ["off", "on"]);
  assert.deepEqual(test.browser.subscribedWith, ["K"]);
  assert.deepEqual(calls(test), ["GET /push", "PUT /push/subscription"]);
  assert.equal(test.browser.endpointNow, endpoint);
});

Deno.test("who says no to the browser is not asked again by us, and nothing goes to the server", async () => {
  const test = await settings();
  test.browser.answer = "denied";

  await test.app.push.turnOn();

  assert.equal(test.app.push.status.value, "denied");
  assert.deepEqual(calls(test), ["GET /push"]);
});

Deno.test("turning off ends it on the server and in the browser", async () => {
  const test = await settings();
  await test.app.push.turnOn();

  await test.app.push.turnOff();

  assert.equal(test.app.push.status.value, "off");
  assert.equal(test.browser.endpointNow, undefined);
  assert.ok(calls(test).includes("DELETE /push/subscription"));
});

Deno.test("a subscription that only one side has is not on, and a blocked one says so", async () => {
  const test = await settings();
  const { push } = test.app;
  const statuses: string[] = [];
  for (const subscription of [subscribed.subscription, { ...subscribed.subscription, state: "blocked" }]) {
    test.answers.set("GET /push", () => ({ publicKey: "K", subscription }));
    await push.load();
    statuses.push(push.status.value);
  }
  test.answers.set("GET /push", () => ({}));
  await push.load();

  assert.deepEqual([...statuses, push.status.value], ["off", "blocked", "unavailable"]);
});

Deno.test("a failure is told in words, whoever failed", async () => {
  const test = await settings();
  const { push } = test.app;
  test.browser.failure = new Error("AbortError");
  await push.turnOn();
  const browsers = push.error.value;
  test.browser.failure = undefined;
  test.answers.set(
    "PUT /push/subscription",
    () => new Refusal(400, { error: { code: "bad_request", message: "No such service" } }),
  );
  await push.turnOn();

  assert.match(browsers ?? "", /did not turn them on/);
  assert.equal(push.error.value, "No such service");
});

Deno.test("a test is asked for, and a moment later what became of it is read", async () => {
  const test = await settings();
  const { push } = test.app;
  await push.turnOn();
  test.answers.set("POST /push/test", () => undefined);
  test.answers.set("GET /push", () => ({
    ...subscribed,
    subscription: { ...subscribed.subscription, test: { state: "sent", at: 5 } },
  }));

  await push.sendTest();
  const isTesting = push.isTesting.value;
  test.timers.findLast(({ ms }) => ms === 4_000)?.run();
  await answered();

  assert.deepEqual([isTesting, push.isTesting.value, push.test.value?.state], [true, false, "sent"]);
});

Deno.test("notifications of what waits no more are closed when the page knows", async () => {
  const test = await settings();
  test.browser.shown = new Set(["i2", "long-gone"]);

  await test.app.push.tidy();

  assert.deepEqual([...test.browser.shown], ["i2"]);
});
