/**
 * Cards and the inbox around them in a real browser against the fake API: what is granted beyond one call, what was put off, what is not there, and how a
 * chat says what waits and what was rejected.
 */
import assert from "node:assert/strict";
import { desktop } from "./chromium.ts";
import { stage, violations } from "./stage.ts";

const decisions = (calls: readonly string[]) => calls.filter((call) => call.endsWith("/decision"));

stage("a grant for the session says what it grants and takes a second word", async ({ api, open }) => {
  const page = await open("/", { viewport: desktop });
  const card = page.getByRole("article", { name: "edit_file" });

  await card.getByRole("button", { name: "For this session" }).click();
  await card.getByText("Every call of edit_file in this chat will run without asking, for up to 8 hours")
    .waitFor();
  assert.equal(
    await card.getByRole("link", { name: "Policy → Bypasses" }).getAttribute("href"),
    "/policy/bypasses",
  );
  assert.deepEqual(await violations(page), []);
  await card.getByRole("button", { name: "Back" }).click();
  await card.focus();
  await page.keyboard.press("s");
  await card.getByRole("button", { name: "Allow for this session" }).waitFor();
  await page.keyboard.press("s");
  await page.keyboard.press("Escape");
  await card.getByRole("button", { name: "For this session" }).waitFor();
  assert.deepEqual(decisions(api.calls), []);

  await card.getByRole("button", { name: "For this session" }).click();
  await card.getByRole("button", { name: "Allow for this session" }).click();
  await card.getByText("Allowed for the session").waitFor();
  assert.deepEqual(decisions(api.calls), ["POST /api/inbox/i2/decision"]);
});

stage("eight tabs of one browser work: hidden ones give up their connection", async ({ api, browser }) => {
  const context = await browser.newContext({ viewport: desktop, serviceWorkers: "block" });
  const show = (state: "hidden" | "visible") =>
    `Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
     document.dispatchEvent(new Event("visibilitychange"));`;
  const tabs = [];
  for (let count = 0; count < 8; count += 1) {
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(`${api.url}/`);
    await page.locator(".connection[data-state=live]").waitFor();
    // Headless pages are all in front; this is what a tab behind another one is told.
    if (count < 7) await page.evaluate(show("hidden"));
    tabs.push(page);
  }
  const [first] = tabs;
  assert.ok(first);
  await first.locator(".connection[data-state=resting]").waitFor();

  await first.evaluate(show("visible"));

  await first.locator(".connection[data-state=live]").waitFor();
  await context.close();
});
