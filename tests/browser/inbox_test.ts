/**
 * The built page in a real browser against the fake API, under the product's own security policy: what only a browser can tell.
 */
import assert from "node:assert/strict";
import { FAKE_TOKEN } from "../doubles/fake_api/fake_api.ts";
import { LONG_WORD } from "../doubles/fake_api/long_words.ts";
import { desktop } from "./chromium.ts";
import { listening, overflowing, stage, violations } from "./stage.ts";

const screens: readonly (readonly [path: string, sign: string])[] = [
  ["/", "exec_command"],
  ["/inbox/i6", "Not before Monday."],
  ["/conversations", "nightly backup"],
  ["/conversations/c1", "This is the change"],
  ["/conversations/new", "What should the agent do?"],
  ["/actors", "toolbox"],
  ["/settings", "Firefox on Linux"],
  ["/nowhere", "Nothing on this page"],
];

for (
  const [name, options] of [["a phone", {}], ["a wide dark screen", {
    viewport: desktop,
    dark: true,
  }]] as const
) {
  stage(`every screen on ${name} passes axe and fits its width`, async ({ open }) => {
    for (const [path, sign] of screens) {
      const page = await open(path, options);
      await page.getByText(sign).locator("visible=true").first().waitFor();

      assert.deepEqual(await violations(page), [], path);
      assert.deepEqual(await overflowing(page), [], path);
      await page.close();
    }
  });

  stage(`no word however long pushes anything out of its place on ${name}`, async ({ api, open }) => {
    api.longWords = true;
    for (const [path] of screens.filter(([path]) => path !== "/nowhere" && path !== "/conversations/new")) {
      const page = await open(path, options);
      await page.getByText(LONG_WORD).locator("visible=true").first().waitFor();

      assert.deepEqual(await overflowing(page), [], path);
      await page.close();
    }
  });
}

stage(
  "a call is rejected with a note, and shown as decided when the server says so",
  async ({ api, open }) => {
    const page = await open("/");
    const card = page.getByRole("article", { name: "edit_file" });
    await card.waitFor();
    assert.equal(await page.title(), "(4) Callboard");

    await card.getByRole("button", { name: "Reject" }).click();
    await card.locator("textarea:focus").waitFor();
    await page.keyboard.type("Ask on Monday");
    await card.getByRole("button", { name: "Reject call" }).click();

    await card.getByText("Rejected").waitFor();
    await card.getByText("Ask on Monday").waitFor();
    assert.equal(await card.getByRole("button", { name: "Allow once" }).count(), 0);
    assert.equal(await page.title(), "(3) Callboard");
    assert.ok(api.calls.includes("POST /api/inbox/i2/decision"));
  },
);

stage("a call of high risk takes a second word, and Escape is no decision", async ({ api, open }) => {
  const page = await open("/");
  const card = page.getByRole("article", { name: "exec_command" }).first();

  await card.getByRole("button", { name: "Allow once" }).click();
  assert.equal(api.calls.some((call) => call.endsWith("/decision")), false);
  await card.getByRole("button", { name: "Yes, allow it once" }).click();
  await card.getByText("Allowed once").waitFor();

  const other = page.getByRole("article", { name: "edit_file" });
  await other.getByRole("button", { name: "Edit & allow" }).click();
  await other.locator("textarea:focus").waitFor();
  await page.keyboard.press("Escape");
  await other.getByRole("button", { name: "Allow once" }).waitFor();
  assert.equal(api.calls.filter((call) => call.endsWith("/decision")).length, 1);
});

stage("keys walk over the cards and press only the focused one's buttons", async ({ api, open }) => {
  const page = await open("/", { viewport: desktop });
  const card = page.getByRole("article", { name: "edit_file" });
  await card.waitFor();

  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await card.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("a");

  await card.getByText("Allowed once").waitFor();
  assert.deepEqual(api.calls.filter((call) => call.endsWith("/decision")), ["POST /api/inbox/i2/decision"]);
});

stage("somebody else's decision arrives by itself", async ({ api, open }) => {
  const page = await open("/inbox/i3");
  await listening(page);
  await page.getByRole("button", { name: "Send answer" }).waitFor();
  const item = await (await fetch(`${api.url}/api/inbox/i3`)).json();

  const decision = { decision: "answer", by: "Grace", surface: "zulip", at: Date.now(), answer: "Retry now" };
  api.emit({ event: "item", data: { item: { ...item, version: 2, state: "applied", decision } } });

  await page.getByText("by Grace (zulip)").waitFor();
  assert.equal(await page.getByRole("button", { name: "Send answer" }).count(), 0);
});

stage("a secret is asked for in a field that shows nothing", async ({ api, open }) => {
  const page = await open("/inbox/i3");
  await listening(page);
  await page.getByRole("button", { name: "Send answer" }).waitFor();
  const item = await (await fetch(`${api.url}/api/inbox/i3`)).json();

  api.emit({ event: "item", data: { item: { ...item, version: 2, secret: true } } });

  const field = page.getByLabel("Secret");
  await field.waitFor();
  assert.equal(await field.getAttribute("type"), "password");
  assert.deepEqual(await violations(page), []);
});

stage("an allowance whose call has not begun can be taken back", async ({ api, open }) => {
  const page = await open("/inbox/i1");
  await listening(page);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  const item = await (await fetch(`${api.url}/api/inbox/i1`)).json();
  const at = Date.now();

  // What approval settles is applied at once, with a time before which the call is not handed over.
  const decision = { decision: "allow_once", by: "Owner", surface: "web", at, undoUntil: at + 60_000 };
  api.emit({ event: "item", data: { item: { ...item, version: 2, state: "applied", decision } } });
  const takeBack = page.getByRole("button", { name: "Take back" });
  await takeBack.waitFor();
  assert.equal(await page.getByText("Done", { exact: true }).count(), 0);
  await takeBack.click();

  await page.getByText("Taken back by Ada").waitFor();
});

stage("a call of which nobody knows how it ended is not called done", async ({ api, open }) => {
  const page = await open("/inbox/i1");
  await listening(page);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  const item = await (await fetch(`${api.url}/api/inbox/i1`)).json();

  const decision = { decision: "allow_once", by: "Owner", surface: "web", at: Date.now() };
  api.emit({
    event: "item",
    data: { item: { ...item, version: 2, state: "applied", decision, unknownOutcome: true } },
  });

  await page.getByText("Outcome unknown").waitFor();
  assert.equal(await page.getByText("Done", { exact: true }).count(), 0);
});

stage(
  "a reload without a network says that the device is offline, and the page comes back by itself",
  async ({ api, browser }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(api.url);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");

    await context.setOffline(true);
    await page.reload();
    await page.getByRole("heading", { name: "You are offline" }).waitFor();
    assert.deepEqual(await violations(page), []);
    await context.setOffline(false);

    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await context.close();
  },
);

stage("an actor is restarted after a second tap", async ({ api, open }) => {
  const page = await open("/actors");
  await page.getByRole("button", { name: "Restart toolbox" }).click();
  assert.equal(api.calls.some((call) => call.endsWith("/restart")), false);

  await page.getByRole("button", { name: "Restart now" }).click();

  await page.getByText("Asked…").waitFor();
  assert.ok(api.calls.includes("POST /api/actors/toolbox/restart"));
});

stage("a lost stream is said and comes back by itself", async ({ api, open }) => {
  const page = await open("/");
  const connection = page.locator(".connection");
  await connection.and(page.locator("[data-state=live]")).waitFor();

  api.failing = true;
  api.dropStreams();
  await connection.and(page.locator("[data-state=waiting]")).waitFor();
  api.failing = false;

  await connection.and(page.locator("[data-state=live]")).waitFor();
});

stage("live text grows in its chat", async ({ api, open }) => {
  const page = await open("/conversations/c1");
  await page.getByText("This is the change").waitFor();
  await listening(page);
  const delta = (offset: number, text: string) =>
    api.emit({
      event: "delta",
      data: { conversation: "c1", delta: { turnId: "t2", item: "t2.2.1.0", kind: "text", offset, text } },
    });

  delta(0, "Halfway ");
  delta(8, "there");

  await page.getByText("Halfway there").waitFor();
});

stage("a sign-in link leaves the address bar at once and is used by a tap", async ({ api, open }) => {
  const page = await open(`/#token=${FAKE_TOKEN}`);
  const button = page.getByRole("button", { name: "Sign in on this device" });
  await button.waitFor();
  assert.equal(page.url(), `${api.url}/`);
  assert.equal(api.calls.includes("POST /api/session"), false);
  assert.deepEqual(await violations(page), []);

  await button.click();

  await page.getByRole("heading", { name: "Inbox" }).waitFor();
}, { signedIn: false });
