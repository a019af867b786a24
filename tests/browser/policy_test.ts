/** The screens about policy in a real browser: everything that they can do is done by keyboard alone. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { RuleView } from "../../edge/api.ts";
import { FAKE_TOKEN } from "../doubles/fake_api/fake_api.ts";
import { desktop } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

/** Presses Tab until the element with this role and name has the focus; inside the dialog while one is open. */
async function tabTo(
  page: Page,
  role: Parameters<Page["getByRole"]>[0],
  name: string | RegExp,
): Promise<void> {
  const dialog = page.locator("dialog[open]");
  const within = await dialog.count() > 0 ? dialog : page;
  await reach(page, within.getByRole(role, { name }).first());
}

/** Presses Tab until `target` has the focus. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 150; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`the keyboard does not reach ${target}`);
}

/** What the call at `path` last sent. */
async function pressed(page: Page, path: string, press: () => Promise<void>): Promise<unknown> {
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() !== "GET" && new URL(one.url()).pathname === path),
    press(),
  ]);
  return request.postData() === null ? undefined : request.postDataJSON();
}

stage("a rule is written by keyboard, with what it would have matched", async ({ open }) => {
  const page = await open("/policy/rules/default", { viewport: desktop });
  await tabTo(page, "button", "Add rule");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "New rule" });
  await dialog.waitFor();
  assert.deepEqual(await violations(page), []);

  await tabTo(page, "button", "Allow");
  await page.keyboard.press("Space");
  await tabTo(page, "combobox", "Tool");
  await page.keyboard.type("exec_command");
  await tabTo(page, "textbox", /Command begins with/);
  await page.keyboard.type("bash");
  await dialog.getByText(/would allow any command/).waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Save rule" }).isDisabled(), true);
  for (let letter = 0; letter < 4; letter += 1) await page.keyboard.press("Backspace");
  await page.keyboard.type("git\nlog");
  await dialog.getByText("2 of the last 50 calls").waitFor();
  assert.deepEqual(await violations(page), []);
  await tabTo(page, "button", "Save rule");
  const sent = await pressed(page, "/api/rules", () => page.keyboard.press("Enter"));

  assert.deepEqual(sent, {
    groupId: "default",
    action: "allow",
    toolPattern: "exec_command",
    pathPattern: null,
    argvPrefix: ["git", "log"],
    source: null,
    agent: null,
    priority: 100,
    maxUses: null,
    expiresAt: null,
    note: null,
  });
  await dialog.waitFor({ state: "detached" });
  await page.getByText("git log").first().waitFor();
  await page.getByRole("button", { name: "Add rule" }).and(page.locator(":focus")).waitFor();
});

stage("Escape leaves a rule unwritten and gives the focus back", async ({ api, open }) => {
  const page = await open("/policy/rules/default", { viewport: desktop });
  await tabTo(page, "button", "Edit rule for mcp__*");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Edit rule" });
  await dialog.waitFor();

  await page.keyboard.press("Escape");

  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Edit rule for mcp__*" }).and(page.locator(":focus")).waitFor();
  assert.equal(api.calls.some((call) => call.startsWith("PUT")), false);
});

stage(
  "a tool's answer, a folder and the rest are set by keyboard; the engine says what comes of it",
  async ({ open }) => {
    const page = await open("/policy/rules/default", { viewport: desktop });
    const mail = page.locator(".tool-row", { hasText: "mcp__mail__send" });
    await mail.getByText("Always asks").waitFor();
    await mail.getByText("Its server says: may destroy. Not believed.").waitFor();
    await page.locator(".tool-row", { hasText: "mcp__github__search" }).getByText("Its server is believed")
      .waitFor();
    const matrix = page.getByRole("group", { name: "Answer for update_plan" });
    await reach(page, matrix.getByRole("button", { name: "Deny" }));
    const rule = await pressed(page, "/api/rules", () => page.keyboard.press("Enter"));
    assert.deepEqual(rule, {
      groupId: "default",
      toolPattern: "update_plan",
      action: "deny",
      priority: 1000,
    });
    await page.locator(".tool-row", { hasText: "update_plan" }).locator(".tag.action-deny").waitFor();

    await tabTo(page, "textbox", /^Folder/);
    await page.keyboard.type("/drafts");
    const folder = await pressed(page, "/api/rules", () => page.keyboard.press("Enter"));
    assert.deepEqual(folder, {
      groupId: "default",
      toolPattern: "@fs_read",
      action: "allow",
      pathPattern: "/drafts/*",
      priority: 890,
    });
    await page.getByText("/drafts", { exact: true }).waitFor();

    const rest = page.getByRole("group", { name: "Answer for everything else" });
    await reach(page, rest.getByRole("button", { name: "Deny" }));
    await pressed(page, "/api/rules/r10", () => page.keyboard.press("Enter"));
    await page.locator(".last-rule .tag.action-deny").waitFor();
  },
);

stage("a call is tried by keyboard and every step is shown", async ({ open }) => {
  const page = await open("/policy/try");
  await tabTo(page, "textbox", "Command line");
  await page.keyboard.type("git push --force");
  await page.keyboard.press("Enter");

  const verdict = page.getByRole("region", { name: "It would be refused" });
  await verdict.waitFor();
  await verdict.getByText("skipped: other path").first().waitFor();
  assert.equal(await verdict.getByRole("link").first().getAttribute("href"), "/policy/rules/default");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
});

stage("groups are copied, and deleted only with a second word", async ({ api, open }) => {
  const page = await open("/policy/rules");
  const copy = page.getByRole("article", { name: /Copy of/ }).or(
    page.locator("article", { hasText: "Copy of Night" }),
  );
  await page.locator("article", { hasText: "Night shift" }).getByRole("button", { name: "Duplicate" }).press(
    "Enter",
  );
  await page.getByRole("dialog", { name: "Duplicate Night shift with 2 rules" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Enter");
  await copy.waitFor();
  // The closing dialog gives the focus back; what is pressed before that may lose it again.
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await copy.getByRole("button", { name: "Delete" }).press("Enter");
  await page.getByRole("button", { name: "Keep" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(api.calls.some((call) => call.startsWith("DELETE")), false);
  await copy.getByRole("button", { name: "Delete" }).press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");

  await copy.waitFor({ state: "detached" });
});

stage("bypasses are revoked and schedules cancelled by keyboard", async ({ open }) => {
  const page = await open("/policy/bypasses");
  await tabTo(page, "button", /Revoke bypass for every tool/);
  await pressed(page, "/api/bypasses/b2", () => page.keyboard.press("Enter"));
  await page.getByRole("article", { name: "every tool" }).waitFor({ state: "detached" });

  await page.goto(page.url().replace("bypasses", "schedules"));
  await tabTo(page, "button", "Cancel schedule disk-watch");
  await page.keyboard.press("Enter");
  await tabTo(page, "button", "Cancel schedule");
  await pressed(page, "/api/schedules/s2", () => page.keyboard.press("Enter"));
  await page.getByRole("article", { name: "disk-watch" }).waitFor({ state: "detached" });
});

stage("how long things wait and what two people must allow is set by keyboard", async ({ open }) => {
  const page = await open("/policy/gate");
  const two = page.getByRole("textbox", { name: /Two people/ });
  await reach(page, two);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\na*b");
  await page.getByRole("alert").waitFor();
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("*");
  await reach(page, page.getByRole("textbox", { name: /Calls a minute/ }));
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.getByRole("combobox", { name: "Then", exact: true }).selectOption("Hand it on, wait again");
  await page.getByRole("button", { name: "Add a tool" }).press("Enter");
  await page.locator(".by-tool input:focus").waitFor();
  await page.keyboard.type("mcp__mail__*");
  await page.getByRole("combobox", { name: "Its calls wait at most" }).selectOption("1 h");
  await page.getByRole("button", { name: "Add a tool" }).press("Enter");
  await page.locator(".by-tool li:nth-child(2) input:focus").waitFor();
  await page.keyboard.type("exec_command");
  await page.getByRole("combobox", { name: "and then" }).nth(1).selectOption("Keep it waiting");
  await page.getByRole("button", { name: "Look at line 2 earlier" }).press("Enter");
  await page.getByRole("button", { name: "Add a tool" }).press("Enter");
  await page.getByRole("button", { name: "Remove line 3" }).press("Enter");
  await page.getByRole("button", { name: "Add a tool" }).and(page.locator(":focus")).waitFor();
  for (const name of ["Ada", "Grace"]) {
    await page.getByRole("combobox", { name: "Add a person" }).selectOption(name);
  }
  await page.getByRole("button", { name: "Ask Grace earlier" }).press("Enter");
  await page.getByRole("combobox", { name: "Quiet from" }).selectOption({ index: 23 });
  await page.getByRole("combobox", { name: "Quiet hours in the time of" }).selectOption("Europe/Berlin");
  await page.getByRole("checkbox", { name: /Whoever asked/ }).press("Space");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await overflowing(page), []);
  await tabTo(page, "button", "Save");
  const sent = await pressed(page, "/api/gate", () => page.keyboard.press("Enter"));

  assert.deepEqual(sent, {
    expirySeconds: 604_800,
    onExpiry: "escalate",
    expiryByTool: [
      { toolPattern: "exec_command", expirySeconds: 604_800, onExpiry: "park" },
      { toolPattern: "mcp__mail__*", expirySeconds: 3_600, onExpiry: "escalate" },
    ],
    escalateTo: ["u2", "u1"],
    lastResort: "reject",
    timeZone: "Europe/Berlin",
    remindSeconds: null,
    quietHours: { from: 22, to: 6 },
    twoPersons: ["mcp__mail__*", "a*"],
    callsPerMinute: null,
    denialsInARow: 10,
    requesterMayApprove: false,
    undoSeconds: 0,
  });
  await page.getByText("Saving…").waitFor({ state: "detached" });
});

stage("the log says whether its chain holds, is filtered, and can be taken away", async ({ api, open }) => {
  const page = await open("/policy/audit");
  await tabTo(page, "button", "Verify chain");
  await page.keyboard.press("Enter");
  await page.getByText("The chain holds: 5 entries, none changed.").waitFor();
  api.brokenAt = 3;
  await page.keyboard.press("Enter");
  await page.getByText(/broken at entry 3/).waitFor();
  assert.deepEqual(await violations(page), []);
  assert.equal(await page.getByRole("link", { name: "Export" }).getAttribute("href"), "/api/audit/export");

  await tabTo(page, "searchbox", /Filter/);
  await page.keyboard.type("grace");
  await page.getByText("1 of the latest 4 entries").waitFor();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await tabTo(page, "button", "Older entries");
  await page.keyboard.press("Enter");
  await page.locator(".audit-entry:nth-child(5) summary:focus").waitFor();
  await page.getByText("5 entries", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Older entries" }).count(), 0);
  await tabTo(page, "searchbox", /Filter/);
  await page.keyboard.type("rule.create");
  await page.locator(".audit-entry summary").press("Enter");
  await tabTo(page, "button", "Revert entry 3");
  await page.keyboard.press("Enter");
  await tabTo(page, "button", "Revert this change");
  await pressed(page, "/api/audit/3/revert", () => page.keyboard.press("Enter"));
  assert.deepEqual(await violations(page), []);
});

stage("everything is stopped with a second word, said on every screen, and lifted", async ({ api, open }) => {
  const page = await open("/settings");
  await tabTo(page, "button", "Stop everything");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Keep running" }).and(page.locator(":focus")).waitFor();
  assert.equal(api.calls.includes("POST /api/effects/suspend"), false);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const banner = page.getByText("Everything is stopped.");
  await banner.waitFor();
  assert.deepEqual(await violations(page), []);

  for (const path of ["/", "/conversations/c1", "/actors", "/policy/rules"]) {
    await page.goto(`${api.url}${path}`);
    await banner.waitFor();
    assert.deepEqual(await overflowing(page), [], path);
  }
  await tabTo(page, "button", "Lift the stop");
  await page.keyboard.press("Enter");
  await banner.waitFor({ state: "detached" });
});

stage(
  "always is a rule that the person has seen, never one that the server did not offer",
  async ({ open }) => {
    const page = await open("/inbox/i2", { viewport: desktop });
    await tabTo(page, "button", "Always…");
    await page.keyboard.press("Enter");
    await page.getByText("2 of the last 50 calls").waitFor();
    assert.deepEqual(await violations(page), []);
    await tabTo(page, "radio", /exactly/);
    await page.keyboard.press("ArrowDown");
    await reach(page, page.getByRole("button", { name: "Always allow" }).last());
    const sent = await pressed(page, "/api/inbox/i2/decision", () => page.keyboard.press("Enter"));

    // The page's own request, whose shape the next line checks.
    const { decision, rule } = sent as { decision: string; rule: RuleView };
    assert.deepEqual([decision, rule.action, rule.pathPattern], ["allow_always", "allow", "/config/*"]);
    assert.equal(Math.round(((rule.expiresAt ?? 0) - Date.now()) / 86_400_000), 30, "it ends by itself");
    await page.getByText("Always allowed").waitFor();

    await page.goto(page.url().replace("i2", "i1"));
    await page.getByRole("button", { name: "Always…" }).press("Enter");
    await page.getByText(/No rule that could allow this/).waitFor();
    assert.equal(await page.getByRole("button", { name: "Always allow" }).last().isDisabled(), true);
    await page.getByRole("button", { name: "Always reject" }).first().press("Enter");
    await page.getByText("every call of exec_command").waitFor();
  },
);

stage(
  "an approver may ask somebody else, of those who may decide, and makes no rules",
  async ({ api, open }) => {
    api.role = "approver";
    const page = await open("/inbox/i2");

    await page.getByRole("button", { name: "Ask somebody" }).press("Enter");
    await page.getByRole("combobox", { name: "Who should decide?" }).selectOption("Grace");

    assert.ok(api.calls.includes("GET /api/inbox/i2/deciders"));
    assert.equal(
      api.calls.some((call) => call.endsWith("/api/users")),
      false,
      "the list of people is the owner's",
    );
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("button", { name: "Always…" }).count(), 0);
  },
);

stage("always takes an end, a count and a scope by hand, and never loses the path", async ({ open }) => {
  const page = await open("/inbox/i2");
  await page.getByRole("button", { name: "Always…" }).press("Enter");
  await page.getByLabel("Ends after").selectOption("Never");
  await page.getByLabel("Uses").fill("ten");
  await page.getByText("Write a whole number above zero").waitFor();
  assert.equal(await page.getByRole("button", { name: "Always allow" }).last().isDisabled(), true);
  await page.getByLabel("Uses").fill("5");
  await page.getByText("Write the scope by hand").click();
  const path = page.getByLabel("Path, with *");
  assert.equal(await path.inputValue(), "/config/backup.yaml");
  const allow = page.getByRole("button", { name: "Always allow" }).last();

  await path.fill("");
  await page.getByText("Name a path").waitFor();
  assert.equal(await allow.isDisabled(), true);
  assert.deepEqual(await violations(page), []);
  await path.fill("/config/backup*");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().endsWith("/decision")),
    allow.press("Enter"),
  ]);

  const { pathPattern, expiresAt, maxUses } = request.postDataJSON().rule;
  assert.deepEqual({ pathPattern, expiresAt, maxUses }, {
    pathPattern: "/config/backup*",
    expiresAt: null,
    maxUses: 5,
  });
});

stage("somebody else is asked to decide, and given-up messages are settled", async ({ api, open }) => {
  const page = await open("/inbox/i2");
  await page.getByRole("button", { name: "Ask somebody" }).press("Enter");
  const people = page.getByRole("combobox", { name: "Who should decide?" });
  await people.selectOption("Grace");
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Ask", exact: true }).press("Enter");
  await page.getByText("Grace was asked to decide.").waitFor();

  await page.goto(`${api.url}/actors`);
  await page.getByText("RangeError: Invalid array length").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Try again: user.message" }).press("Enter");
  await page.getByText("Given up").waitFor({ state: "detached" });
});

stage(
  "rules of equal priority change places by keyboard and by touch, and the focus goes along",
  async ({ api, open }) => {
    const page = await open("/policy/rules/default");
    const names = () =>
      page.locator(".rule-list .rule-match").filter({ hasText: "git status" }).allInnerTexts();
    const up = page.getByRole("button", { name: "Move exec_command up" });
    const down = page.getByRole("button", { name: "Move exec_command down" });
    await down.waitFor();
    const before = await names();

    await down.press("Enter");
    await page.locator("#rule-r2 button[data-way=up]:focus").waitFor();
    assert.deepEqual(await names(), [...before].reverse());
    await up.click();
    await page.locator("#rule-r2 button[data-way=down]").waitFor();

    assert.deepEqual(await names(), before);
    assert.equal(api.calls.filter((call) => call === "POST /api/rules/order").length, 2);
    assert.deepEqual(await violations(page), []);
  },
);

stage(
  "a change that lasts asks an old sign-in for a proof, and is then made without being asked for again",
  async ({ api, open }) => {
    api.isStale = true;
    const page = await open("/policy/rules/default");
    const down = page.getByRole("button", { name: "Move exec_command down" });
    await down.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Is it still you?" });
    await dialog.waitFor();
    await page.locator("input[name=token]:focus").waitFor();
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await overflowing(page), []);

    await page.keyboard.press("Escape");
    await page.getByText("This needs a recent sign-in").waitFor();
    await down.press("Enter");
    await page.keyboard.type("not the token of this server");
    await page.keyboard.press("Enter");
    await dialog.getByText("This token is wrong").waitFor();
    await page.locator("input[name=token]").fill(`${api.url}/#token=${FAKE_TOKEN}`);
    await page.keyboard.press("Enter");

    await dialog.waitFor({ state: "detached" });
    await page.locator("#rule-r2 button[data-way=up]").waitFor();
    assert.equal(api.calls.filter((call) => call === "POST /api/rules/order").length, 3);
  },
);

stage("a rule may be about what a schedule began, and a dry run may be begun by one", async ({ open }) => {
  const page = await open("/policy/rules/default");
  await page.getByRole("button", { name: "Add rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Tool" }).fill("exec_command");
  await dialog.getByText("Priority · ").click();
  await dialog.getByRole("combobox", { name: "From" }).selectOption("What a schedule began");
  const sent = await pressed(
    page,
    "/api/rules",
    () => dialog.getByRole("button", { name: "Save rule" }).press("Enter"),
  );

  // The page's own request, whose shape the next line checks.
  assert.equal((sent as { source: string }).source, "schedule");
  await page.goto(page.url().replace("/rules/default", "/try"));
  await page.getByLabel("Command line").fill("ls");
  await page.getByLabel("Begun by").selectOption("A schedule");
  const asked = await pressed(
    page,
    "/api/rules/explain",
    () => page.getByRole("button", { name: "What would happen?" }).press("Enter"),
  );

  assert.equal((asked as { trigger: string }).trigger, "schedule");
});
