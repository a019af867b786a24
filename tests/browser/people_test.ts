/** People in a real browser: added, linked, changed and removed by keyboard alone, on a phone and on a wide screen; every state passes axe. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { FAKE_TOKEN } from "../doubles/fake_api/fake_api.ts";
import { LONG_WORD } from "../doubles/fake_api/long_words.ts";
import { desktop } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

/** Presses a key and gives the body of the change that it sends. */
async function sent(page: Page, method: string, path: RegExp, press: () => Promise<void>): Promise<unknown> {
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === method && path.test(new URL(one.url()).pathname)),
    press(),
  ]);
  return request.postData() === null ? undefined : request.postDataJSON();
}

async function looksRight(page: Page): Promise<void> {
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
}

stage(
  "a person is added with a Zulip account and a channel, by keyboard on a wide screen",
  async ({ open }) => {
    const page = await open("/settings", { viewport: desktop });
    await page.getByRole("link", { name: /^People/ }).press("Enter");
    await page.getByRole("button", { name: "Add a person" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Lin");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("x");
    await dialog.getByRole("alert").waitFor();
    const save = dialog.getByRole("button", { name: "Save" });
    assert.equal(await save.isDisabled(), true);
    await page.keyboard.press("Backspace");
    await page.keyboard.type("7");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await dialog.getByRole("combobox", { name: "Channel number" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("3");
    await looksRight(page);

    const person = { name: "Lin", role: "approver", channels: [{ id: 3, access: "approve" }] };
    const first = await sent(page, "POST", /\/api\/users$/, () => save.press("Enter"));
    assert.deepEqual(first, { ...person, zulipUserId: 7 });
    await dialog.getByText("This Zulip user is linked to somebody else").waitFor();
    await dialog.getByRole("textbox", { name: "Zulip user id" }).fill("8");
    await sent(page, "POST", /\/api\/users$/, () => page.keyboard.press("Enter"));

    await dialog.waitFor({ state: "detached" });
    const card = page.getByRole("article", { name: "Lin" });
    await card.getByText("user 8").waitFor();
    await looksRight(page);
  },
);

stage("a person is changed, unlinked and removed with a second word, on a phone", async ({ open }) => {
  const page = await open("/settings/people");
  const card = page.getByRole("article", { name: "Grace" });
  await card.getByText("user 7").waitFor();
  await looksRight(page);
  await card.getByRole("button", { name: "Edit Grace" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Edit Grace" });
  await dialog.getByRole("combobox", { name: "Role" }).selectOption("viewer");
  await looksRight(page);
  const changed = await sent(
    page,
    "PUT",
    /\/api\/users\/u2$/,
    () => dialog.getByRole("button", { name: "Save" }).press("Enter"),
  );
  assert.deepEqual(changed, {
    name: "Grace",
    role: "viewer",
    zulipUserId: 7,
    channels: [{ id: 3, access: "approve" }],
  });
  await dialog.waitFor({ state: "detached" });

  await card.getByRole("button", { name: "Unlink the Zulip account of Grace" }).press("Enter");
  await looksRight(page);
  const unlinked = await sent(
    page,
    "PUT",
    /\/api\/users\/u2$/,
    () => card.getByRole("button", { name: "Unlink this account" }).press("Enter"),
  );
  assert.deepEqual(unlinked, { ...changed as object, zulipUserId: null }); // compared whole above
  await card.getByText("not linked").waitFor();

  await card.getByRole("button", { name: "Remove Grace" }).press("Enter");
  await page.keyboard.press("Escape");
  await card.getByRole("button", { name: "Remove Grace" }).press("Enter");
  await sent(
    page,
    "DELETE",
    /\/api\/users\/u2$/,
    () => card.getByRole("button", { name: "Remove this person" }).press("Enter"),
  );
  await card.waitFor({ state: "detached" });
  const own = page.getByRole("article", { name: "Ada" });
  await own.getByRole("button", { name: "Remove Ada" }).press("Enter");
  await own.getByRole("button", { name: "Remove this person" }).press("Enter");
  await own.getByText("Somebody must remain the owner").waitFor();
});

stage("a sign-in link for a person is made after a proof of who asks for it", async ({ api, open }) => {
  const page = await open("/settings/people");
  api.isStale = true;
  const card = page.getByRole("article", { name: "Grace" });
  await card.getByRole("button", { name: "Make a sign-in link for Grace" }).press("Enter");
  const proof = page.getByRole("dialog", { name: "Is it still you?" });
  await proof.getByRole("textbox").fill(FAKE_TOKEN);
  await page.keyboard.press("Enter");

  await card.getByRole("textbox", { name: "Sign-in link" }).waitFor();

  assert.match(await card.getByRole("textbox", { name: "Sign-in link" }).inputValue(), /#token=for-u2$/);
  await looksRight(page);
});

stage("people are the owner's, and no name pushes anything out of the screen", async ({ api, open }) => {
  api.longWords = true;
  const wide = await open("/settings/people");
  await wide.getByText(LONG_WORD).first().waitFor();
  assert.deepEqual(await overflowing(wide), []);
  api.longWords = false;
  api.role = "approver";

  const page = await open("/settings");
  await page.getByRole("link", { name: /^Policy/ }).first().waitFor();

  assert.equal(await page.getByRole("link", { name: /^People/ }).count(), 0);
  assert.deepEqual(api.calls.filter((call) => call === "GET /api/users").length, 1);
});
