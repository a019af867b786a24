/**
 * What leaves a question undecided, what is not offered because the server would refuse it, and where the focus stays, in a real browser against the
 * fake API.
 */
import assert from "node:assert/strict";
import { desktop } from "./chromium.ts";
import { listening, overflowing, stage, violations } from "./stage.ts";

stage(
  "a question can be put off or given to somebody, and keeps what was typed meanwhile",
  async ({ api, open }) => {
    const page = await open("/inbox/i3");
    const card = page.getByRole("article", { name: "Question" });
    const answer = card.getByRole("textbox", { name: "Your answer" });
    await answer.fill("Only on");
    await card.getByRole("button", { name: "Ask somebody" }).press("Enter");
    await card.locator("select:focus").waitFor();
    assert.equal(await answer.isVisible(), false);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await overflowing(page), []);
    await page.keyboard.press("Escape");
    assert.equal(await answer.inputValue(), "Only on");
    await card.getByRole("button", { name: "Later" }).press("Enter");
    await card.getByRole("button", { name: "1 hour" }).press("Enter");
    await card.getByText("Put off until").waitFor();

    await card.getByRole("button", { name: "Decide now" }).press("Enter");
    await card.getByRole("button", { name: "Ask somebody" }).press("Enter");
    await card.getByRole("combobox").selectOption("Grace");
    await card.getByRole("button", { name: "Ask", exact: true }).press("Enter");
    await card.getByText("Grace was asked to decide.").waitFor();

    assert.deepEqual(api.calls.filter((call) => call.endsWith("/decision")), []);
  },
);

stage("what the server would refuse is not offered where two people must allow", async ({ api, open }) => {
  const page = await open("/inbox/i2");
  await listening(page);
  const item = await (await fetch(`${api.url}/api/inbox/i2`)).json();
  const edit = page.getByRole("button", { name: "Edit & allow" });
  await edit.waitFor();

  api.put({ ...item, version: 2, twoPersons: true });
  await edit.waitFor({ state: "detached" });
  const allow = page.getByRole("button", { name: "Allow once" });
  assert.equal(await allow.count(), 1);
  const first = { id: "u2", by: "Grace", at: Date.now() };
  api.put({ ...item, version: 3, twoPersons: true, firstApproval: first });
  await page.getByText("Grace allows it.").waitFor();
  assert.equal(await allow.count(), 1, "a second person may");
  api.put({ ...item, version: 4, twoPersons: true, firstApproval: { ...first, id: "u1", by: "Ada" } });

  await allow.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "For this session" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Reject", exact: true }).count(), 1);
});

stage("a form that is left or sent gives the focus back to its card", async ({ open }) => {
  const page = await open("/", { viewport: desktop });
  const card = page.getByRole("article", { name: "edit_file" });
  const focused = card.and(page.locator(":focus"));
  await card.focus();

  for (const key of ["r", "s", "e"]) {
    await page.keyboard.press(key);
    await card.locator(":focus").waitFor();
    await page.keyboard.press("Escape");
    await focused.waitFor();
  }
  await page.keyboard.press("r");
  await card.locator("textarea:focus").waitFor();
  await page.keyboard.type("no");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await card.getByText("Rejected").waitFor();

  await focused.waitFor();
});
