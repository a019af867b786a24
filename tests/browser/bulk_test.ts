/**
 * Many items at once in a real browser against the fake API: finding among them, choosing several, rejecting them together, and the keys for it.
 */
import assert from "node:assert/strict";
import { desktop, phone } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

stage("what waits is found by words, kind, risk and chat", async ({ open }) => {
  const page = await open("/");
  const cards = page.getByRole("article");
  await cards.first().waitFor();
  assert.equal(await cards.count(), 4);

  await page.getByRole("searchbox").fill("backup yaml");
  await page.waitForFunction("document.querySelectorAll('article').length === 1");
  assert.equal(await cards.first().getAttribute("data-item"), "i2");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
  await page.getByRole("searchbox").fill("nowhere at all");
  await page.getByText("Nothing that waits matches").waitFor();
  await page.getByRole("searchbox").fill("");

  await page.getByLabel("Kind").selectOption("Question");
  await page.waitForFunction("document.querySelectorAll('article').length === 1");
  assert.equal(await cards.first().getAttribute("data-item"), "i3");
  await page.getByLabel("Kind").selectOption("Any kind");
  await page.getByLabel("Risk").selectOption("High risk");
  await page.waitForFunction("document.querySelectorAll('article').length === 1");
  assert.equal(await cards.first().getAttribute("data-item"), "i1");
  await page.getByLabel("Risk").selectOption("Any risk");
  await page.getByLabel("Chat").selectOption("Release notes 2.4");
  await page.waitForFunction("document.querySelectorAll('article').length === 1");
  assert.equal(await cards.first().getAttribute("data-item"), "i4");
});

for (const [name, viewport] of [["a phone", phone], ["a wide screen", desktop]] as const) {
  stage(
    `several items are rejected together with one note after a second word on ${name}`,
    async ({ api, open }) => {
      const page = await open("/", { viewport });
      await page.getByRole("checkbox", { name: "Choose exec_command" }).check();
      await page.getByRole("checkbox", { name: "Choose Question" }).check();
      assert.equal(await page.getByRole("checkbox", { name: "Choose Restart" }).count(), 0);
      const bar = page.getByRole("group", { name: "Chosen items" });
      await bar.getByText("2 chosen").waitFor();
      assert.equal(await bar.getByRole("button", { name: /Allow/ }).count(), 0);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(await overflowing(page), []);

      await bar.getByRole("button", { name: "Reject…" }).click();
      assert.equal(api.calls.some((call) => call.endsWith("/decision")), false);
      await bar.getByRole("textbox").fill("Not tonight");
      await bar.getByRole("button", { name: "Reject 2 items" }).click();

      await page.getByText("Not tonight").nth(1).waitFor();
      assert.deepEqual(api.calls.filter((call) => call.endsWith("/decision")), [
        "POST /api/inbox/i1/decision",
        "POST /api/inbox/i3/decision",
      ]);
      assert.equal(await bar.count(), 0);
    },
  );
}

stage("a filter takes what it hides out of what is chosen", async ({ api, open }) => {
  const page = await open("/");
  await page.getByRole("checkbox", { name: "Choose exec_command" }).check();
  await page.getByRole("checkbox", { name: "Choose edit_file" }).check();

  await page.getByLabel("Risk").selectOption("Medium risk");
  await page.getByText("1 chosen").waitFor();
  await page.getByRole("button", { name: "Reject…" }).click();
  await page.getByRole("button", { name: "Reject 1 item" }).click();

  await page.getByText("Rejected").first().waitFor();
  assert.deepEqual(api.calls.filter((call) => call.endsWith("/decision")), ["POST /api/inbox/i2/decision"]);
});

stage("x chooses the focused card, ? tells the keys, o opens the card alone", async ({ api, open }) => {
  const page = await open("/", { viewport: desktop });
  await page.getByRole("article").first().waitFor();

  await page.keyboard.press("x");
  assert.equal(await page.getByText("1 chosen").count(), 0, "no card is focused");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("1 chosen").waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "Choose edit_file" }).isChecked(), true);
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys of the inbox" });
  await help.waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("a");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  assert.equal(api.calls.some((call) => call.endsWith("/decision")), false);
  await page.getByRole("article", { name: "edit_file" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("o");

  await page.waitForURL(`${api.url}/inbox/i2`);
});
