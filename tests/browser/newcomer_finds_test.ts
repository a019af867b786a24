/**
 * The ways in and around that a newcomer takes: a link opened over the page, a page without network, and a keyboard that goes on where it was.
 */
import assert from "node:assert/strict";
import { FAKE_TOKEN } from "../doubles/fake_api/fake_api.ts";
import { desktop } from "./chromium.ts";
import { listening, overflowing, stage, violations } from "./stage.ts";

stage(
  "a link that is opened in the tab of the sign-in page is taken and leaves the address bar",
  async (on) => {
    const page = await on.open("/");
    await page.getByText("deno task link").waitFor();
    assert.deepEqual(await violations(page), []);

    await page.evaluate(`location.hash = "token=${FAKE_TOKEN}"`);

    await page.getByRole("button", { name: "Sign in on this device" }).waitFor();
    assert.equal(page.url(), `${on.api.url}/`);
  },
  { signedIn: false },
);

stage("the whole printed link can be pasted where a token is asked for", async ({ api, open }) => {
  const page = await open("/");

  await page.getByLabel("Sign-in link or token").fill(`${api.url}/#token=${FAKE_TOKEN}`);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();

  await page.getByRole("heading", { name: "Inbox" }).waitFor();
}, { signedIn: false });

stage("without network the box to write in stays above the tab bar", async ({ open }) => {
  const page = await open("/conversations/c1");
  await listening(page);
  const composer = page.locator(".composer");
  await composer.waitFor();

  await page.context().setOffline(true);
  await page.locator(".connection[data-state=offline]").waitFor();

  const box = await composer.boundingBox();
  const tabs = await page.locator(".rail nav").boundingBox();
  assert.ok(box && tabs);
  assert.ok(
    box.y + box.height <= tabs.y + 1,
    `composer ends at ${box.y + box.height}, tabs begin at ${tabs.y}`,
  );
  assert.deepEqual(await overflowing(page), []);
});

stage("a new link for another device gets the focus", async ({ open }) => {
  const page = await open("/settings", { viewport: desktop });
  await page.getByRole("button", { name: "Sign in on another device" }).press("Enter");
  await page.getByLabel("Sign-in link").and(page.locator(":focus")).waitFor();
});
