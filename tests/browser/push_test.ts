/**
 * Push messages in a real browser: Chromium hands the built service worker what a push service would, and the notification that stands there is
 * looked at.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { phone } from "./chromium.ts";
import { stage } from "./stage.ts";

/** Gives the worker of this page's origin a message, as Chromium does when one comes. */
async function deliverer(page: Page): Promise<(data: string) => Promise<void>> {
  const devtools = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [registration] = registrations;
      if (registration) resolve(registration.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  const registrationId = await registered;
  const { origin } = new URL(page.url());
  return async (data) =>
    void await devtools.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
}

/** The notifications that stand there, when there are as many as wanted. */
async function shown(page: Page, wanted: (titles: readonly string[]) => boolean): Promise<string[]> {
  for (let round = 0; round < 200; round += 1) {
    const titles = await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      return (await registration.getNotifications()).map(({ title }) => title);
    });
    if (wanted(titles)) return titles;
    await page.waitForTimeout(50);
  }
  throw new Error("the notifications never stood as they should");
}

stage(
  "an item has one notification on the device, which is replaced when it is over",
  async ({ api, browser }) => {
    const context = await browser.newContext({ viewport: phone });
    await context.grantPermissions(["notifications"], { origin: api.url });
    const page = await context.newPage();
    await page.goto(`${api.url}/settings`);
    await page.getByRole("heading", { name: "Notifications" }).waitFor();
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    const deliver = await deliverer(page);
    const notice = { v: 1, about: "waiting", itemId: "i2", tool: "exec_command", conversation: "Deploy" };

    await deliver(JSON.stringify(notice));
    const asked = await shown(page, ({ length }) => length === 1);
    await deliver(JSON.stringify({ ...notice, about: "settled" }));
    const over = await shown(page, ([title]) => title !== asked[0]);
    await deliver("something newer");
    const unknown = await shown(page, ({ length }) => length === 2);

    assert.deepEqual(asked, ["Waiting for you: exec_command"]);
    assert.deepEqual(over, ["Waits no more: exec_command"]);
    assert.ok(unknown.includes("Something waits in your inbox"));
    await context.close();
  },
);

stage(
  "a page that a notification opened shows the item, says so to the server, and keeps a clean address",
  async ({ api, browser }) => {
    const page = await browser.newPage({ viewport: phone, serviceWorkers: "block" });
    const told = page.waitForRequest((request) => request.url().endsWith("/api/push/clicked"));

    await page.goto(`${api.url}/inbox/i2?pushed`);
    const request = await told;

    assert.deepEqual(request.postDataJSON(), { itemId: "i2" });
    assert.equal(new URL(page.url()).search, "");
  },
);
