/** Profiles in a real browser: made, changed, deleted and chosen by keyboard alone, and every dialog passes axe. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { desktop } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

/** Presses a key and gives the body of the change that it sends. */
async function sent(page: Page, path: RegExp, press: () => Promise<void>): Promise<unknown> {
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() !== "GET" && path.test(new URL(one.url()).pathname)),
    press(),
  ]);
  return request.postData() === null ? undefined : request.postDataJSON();
}

stage("a profile is made, changed and deleted by keyboard", async ({ open }) => {
  const page = await open("/policy/profiles", { viewport: desktop });
  await page.getByRole("button", { name: "New profile" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: /Writes without asking/ }).waitFor();
  assert.deepEqual(await violations(page), []);
  await dialog.getByRole("textbox", { name: "Name" }).focus();
  await page.keyboard.type("Writer");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Write well.");
  await page.keyboard.press("Tab");
  await page.keyboard.type("/out/*");
  await dialog.getByRole("alert").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Save profile" }).isDisabled(), true);
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Tab");
  await page.keyboard.type("exec_command\nmcp__mail__*");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
  const save = dialog.getByRole("button", { name: "Save profile" });
  assert.deepEqual(await sent(page, /\/api\/profiles$/, () => save.press("Enter")), {
    name: "Writer",
    groupId: "default",
    model: null,
    instructions: "Write well.",
    writePaths: ["/out/"],
    excludedTools: ["exec_command", "mcp__mail__*"],
  });
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Edit profile Writer" }).press("Enter");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Author");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete profile Author" }).press("Enter");
  await page.getByRole("button", { name: "Keep" }).and(page.locator(":focus")).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Tab");
  await sent(page, /\/api\/profiles\/./, () => page.keyboard.press("Enter"));
  await page.getByRole("article", { name: "Author" }).waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "Delete profile Default" }).count(), 0);
});

stage("the owner gives a conversation another profile, on a phone", async ({ open }) => {
  const page = await open("/conversations/c1");
  await page.getByRole("button", { name: "Profile: Default" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Profile of this conversation" });
  await dialog.getByRole("combobox", { name: "Profile" }).selectOption("Nightly jobs");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
  const save = dialog.getByRole("button", { name: "Save profile" });

  const choice = await sent(page, /\/api\/conversations\/c1\/profile$/, () => save.press("Enter"));

  assert.deepEqual(choice, { profile: "nightly" });
  await dialog.waitFor({ state: "detached" });
});
