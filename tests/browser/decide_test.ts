/**
 * Cards and the inbox around them in a real browser against the fake API: what is granted beyond one call, what was put off, what is not there, and how a
 * chat says what waits and what was rejected.
 */
import assert from "node:assert/strict";
import { desktop, phone } from "./chromium.ts";
import { listening, overflowing, stage, violations } from "./stage.ts";

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
  await card.getByRole("radio", { name: "Every call of every tool" }).check();
  await card.getByText("The agent can then do here whatever no rule denies.").waitFor();
  await card.getByRole("radio", { name: "Every built-in tool that writes files" }).check();
  await card.getByLabel("For how long").selectOption("15 minutes");
  await card.getByText(
    "Every built-in tool that writes files in this chat will run without asking, for up to 15 minutes",
  )
    .waitFor();
  assert.deepEqual(await violations(page), []);
  const sent = page.waitForRequest((request) => request.url().endsWith("/decision"));
  await card.getByRole("button", { name: "Allow for this session" }).click();
  await card.getByText("Allowed for the session").waitFor();
  assert.deepEqual((await sent).postDataJSON(), {
    version: 1,
    decision: "allow_session",
    scope: "category",
    seconds: 900,
  });
  assert.deepEqual(decisions(api.calls), ["POST /api/inbox/i2/decision"]);
});

stage("an approver allows no more than the tool for the session", async ({ api, open }) => {
  api.role = "approver";
  const page = await open("/inbox/i2");

  await page.getByRole("button", { name: "For this session" }).click();

  await page.getByLabel("For how long").waitFor();
  assert.equal(await page.getByRole("radio").count(), 0);
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

stage("an unknown item is said not to be there", async ({ open }) => {
  const page = await open("/inbox/nowhere");

  await page.getByText("This item is not here any more").waitFor();

  assert.equal(await page.getByText("Reading the inbox…").count(), 0);
  assert.deepEqual(await violations(page), []);
});

stage(
  "a card that was put off stands below the others, says until when, and can be opened",
  async ({ open }) => {
    const page = await open("/", { viewport: desktop });
    const card = page.getByRole("article", { name: "exec_command" }).first();

    await card.getByRole("button", { name: "Later" }).click();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Escape");
    await card.getByRole("button", { name: "Allow once" }).waitFor();
    await card.getByRole("button", { name: "Later" }).click();
    await card.getByRole("button", { name: "Tomorrow morning" }).click();

    const below = page.getByRole("region", { name: "Put off" }).getByRole("article", {
      name: "exec_command",
    });
    await below.getByText("Put off until").waitFor();
    assert.equal(await page.getByRole("article").last().getAttribute("aria-labelledby"), "item-i1");
    assert.equal(await below.getByRole("button", { name: "Allow once" }).count(), 0);
    assert.deepEqual(await violations(page), []);
    await below.getByRole("button", { name: "Decide now" }).click();
    await below.getByRole("button", { name: "Allow once" }).waitFor();
    await below.getByRole("button", { name: "Bring back" }).click();
    await page.getByRole("region", { name: "Put off" }).waitFor({ state: "detached" });
    assert.equal(await page.getByRole("article").first().getAttribute("data-item"), "i1");

    await card.getByRole("button", { name: "Later" }).click();
    const later = card.getByRole("button", { name: "Later" });
    assert.equal(await later.isDisabled(), true, "no time is chosen");
    await card.getByLabel("Another time").fill("2001-01-01T08:00");
    assert.equal(await later.isDisabled(), true, "what is over is no later");
  },
);

stage("a rejected call is nowhere called done", async ({ api, open }) => {
  const page = await open("/conversations/c1", { viewport: desktop });
  const log = page.getByRole("log");
  const card = log.getByRole("article", { name: "edit_file" });
  await card.waitFor();
  await listening(page);
  const item = await (await fetch(`${api.url}/api/inbox/i2`)).json();
  const decision = { decision: "reject_once", by: "Grace", surface: "zulip", at: Date.now() };
  api.emit({ event: "item", data: { item: { ...item, version: 2, state: "applied", decision } } });

  await card.getByText("Rejected", { exact: true }).waitFor();
  assert.equal(await card.getByText("Done").count(), 0);

  const list = await open("/", { viewport: desktop });
  const settled = list.getByRole("link", { name: /mcp__github__create_issue/ });
  await settled.getByText("Rejected", { exact: true }).waitFor();
  assert.equal(await settled.getByText("Done").count(), 0);
});

stage("the head of a chat leads to the card that waits above many words", async ({ api, open }) => {
  api.queued = 30;
  for (const viewport of [phone, desktop]) {
    const page = await open("/conversations/c1", { viewport });
    await page.getByText("And another thing, number 29").waitFor();
    const isInView = `(() => {
      const log = document.querySelector(".chat-log").getBoundingClientRect();
      const card = document.querySelector(".chat-log article").getBoundingClientRect();
      return card.top < log.bottom && card.bottom > log.top;
    })()`;
    await page.waitForFunction(`!${isInView}`);

    await page.getByRole("button", { name: "Waits for you" }).click();

    await page.locator(".chat-log article:focus").waitFor();
    await page.waitForFunction(isInView);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await overflowing(page), []);
    await page.close();
  }
});

for (
  const [kind, name] of [
    ["json", "no padding pushes the end of a json preview out of view"],
    ["diff", "no padding pushes the end of a diff preview out of view"],
    ["text", "no padding pushes the end of a text preview out of view"],
    ["command", "no padding pushes the end of a command preview out of view"],
  ] as const
) {
  stage(name, async ({ api, open }) => {
    const page = await open("/inbox/i2");
    await listening(page);
    const item = await (await fetch(`${api.url}/api/inbox/i2`)).json();
    const text = `safe ${" ".repeat(3_000)}${"x".repeat(300)}${"\n".repeat(500)}END`;
    const described = { ...item.described, preview: { kind, text } };
    api.emit({ event: "item", data: { item: { ...item, version: 2, described } } });

    const end = page.locator(".preview .line", { hasText: "END" }).first();
    await end.waitFor();
    await page.locator(".preview .lines").first().evaluate((element) => {
      if (element.scrollWidth > element.clientWidth + 1) throw new Error("it scrolls sideways");
    });
    const [first, last] = [
      await page.locator(".preview .line").first().boundingBox(),
      await end.boundingBox(),
    ];
    assert.ok(first && last && last.y - first.y < 500, "the end stands near the beginning");
    assert.deepEqual(await violations(page), []);
  });
}

stage("a call is edited in fields of its tool's schema, or as JSON", async ({ api, open }) => {
  const page = await open("/inbox/i2");
  await listening(page);
  const item = await (await fetch(`${api.url}/api/inbox/i2`)).json();
  const args = { title: "Disk full", votes: 3, urgency: "low" };
  api.emit({
    event: "item",
    data: {
      item: { ...item, updatedAt: item.updatedAt + 1, tool: "mcp__github__create_issue", arguments: args },
    },
  });
  await page.getByRole("article", { name: "mcp__github__create_issue" }).waitFor();
  await page.getByRole("button", { name: "Edit & allow" }).click();
  const send = page.getByRole("button", { name: "Allow edited call" });

  const title = page.getByLabel("title");
  await title.and(page.locator(":focus")).waitFor();
  assert.equal(await send.isDisabled(), true, "nothing has changed");
  await page.getByLabel("votes").fill("many");
  await page.getByText("Write a whole number.").waitFor();
  assert.equal(await send.isDisabled(), true);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
  await page.getByLabel("votes").fill("4");
  await page.getByLabel("urgency").selectOption("high");
  await page.getByLabel("draft").selectOption("true");
  await page.getByRole("button", { name: "Edit as JSON" }).click();
  await page.locator("textarea:focus").waitFor();
  assert.deepEqual(JSON.parse(await page.locator("textarea").inputValue()), {
    title: "Disk full",
    urgency: "high",
    votes: 4,
    draft: true,
  });
  const asFields = page.getByRole("button", { name: "Edit as fields" });
  await page.locator("textarea").fill("{");
  assert.equal(await asFields.isDisabled(), true);
  await page.locator("textarea").fill('{"title":"Disk very full","urgency":"high","votes":4,"draft":true}');
  await asFields.click();
  assert.equal(await title.inputValue(), "Disk very full");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().endsWith("/decision")),
    send.click(),
  ]);

  assert.deepEqual(request.postDataJSON().arguments, {
    title: "Disk very full",
    urgency: "high",
    votes: 4,
    draft: true,
  });
});
