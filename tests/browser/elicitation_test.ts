/** What an MCP server asks of a person, in a real browser against the fake API: a form with every kind of field, a secret, and a page to open. */
import assert from "node:assert/strict";
import type { FormView, Item } from "../../edge/api.ts";
import { desktop } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

const asker = { server: "crm", tool: "create_contact", sandboxed: false };
const fields: FormView["fields"] = [
  { name: "name", label: "Full name", type: "string", required: true, secret: false, min: 2 },
  {
    name: "mail",
    label: "E-mail",
    description: "Never shared",
    type: "string",
    format: "email",
    required: false,
    secret: false,
  },
  { name: "born", label: "Born", type: "string", format: "date", required: false, secret: false },
  { name: "age", label: "Age", type: "integer", required: true, secret: false, min: 1, max: 150 },
  { name: "sure", label: "Sure", type: "boolean", required: true, secret: false },
  {
    name: "colour",
    label: "Colour",
    type: "choice",
    required: true,
    secret: false,
    choices: [{ value: "r", label: "Red" }, { value: "b", label: "Blue\u202e" }],
  },
  {
    name: "tags",
    label: "Tags",
    type: "choices",
    required: false,
    secret: false,
    choices: [{ value: "x", label: "X" }, { value: "y", label: "Y" }],
  },
  { name: "tone", label: "Tone", type: "string", required: false, secret: false, fallback: "kind" },
];

function elicitation(more: Partial<Item>): Item {
  const now = Date.now();
  return {
    id: "e1",
    kind: "elicitation",
    state: "waiting",
    version: 1,
    conversation: { id: "c1", title: "Backups", source: "channel" },
    question: "The MCP server asks in words",
    asker,
    createdAt: now,
    updatedAt: now,
    ...more,
  };
}

stage(
  "a server's form has real inputs, says at each field what is wrong, and sends values of their types",
  async ({ api, open }) => {
    api.put(elicitation({ form: { message: "Who is it?", fields } }));
    const page = await open("/inbox/e1", { viewport: desktop });
    const card = page.getByRole("article").filter({ hasText: "Who is it?" });
    await card.getByText("The MCP server crm asks").waitFor();
    await card.getByText("while it runs create_contact").waitFor();
    await card.getByText("Not sandboxed").waitFor();

    await card.getByLabel("E-mail").fill("nobody");
    await card.getByRole("button", { name: "Send", exact: true }).click();
    await card.getByText('"Full name" is missing').waitFor();
    await card.getByText('"E-mail" must be an e-mail address').waitFor();
    assert.equal(
      await card.getByLabel("Full name").evaluate((input) => input === document.activeElement),
      true,
    );
    assert.equal(await card.getByLabel("Full name").getAttribute("aria-invalid"), "true");
    assert.deepEqual(await violations(page), []);

    await card.getByLabel("Full name").fill("Ada Lovelace");
    await card.getByLabel("E-mail").fill("ada@example.org");
    await card.getByLabel("Born").fill("1815-12-10");
    await card.getByLabel("Age").fill("36");
    await card.getByLabel("Sure").check();
    await card.getByLabel("Colour").selectOption("b");
    await card.getByLabel("Y").check();
    const sent = page.waitForRequest((request) => request.url().endsWith("/decision"));
    await card.getByRole("button", { name: "Send", exact: true }).click();

    const { version, decision, content } = (await sent).postDataJSON();
    assert.deepEqual([version, decision], [1, "answer"]);
    assert.deepEqual(content, {
      name: "Ada Lovelace",
      mail: "ada@example.org",
      born: "1815-12-10",
      age: "36",
      sure: true,
      colour: "b",
      tags: ["y"],
      tone: "kind",
    });
    await card.getByText("Sent", { exact: true }).waitFor();
  },
);

stage("the focus goes to what is wrong also where it is one of several boxes", async ({ api, open }) => {
  const choices = [{ value: "x", label: "X" }, { value: "y", label: "Y" }];
  const days = { name: "days", label: "Days", type: "choices", required: true, secret: false } as const;
  api.put(elicitation({ form: { message: "When?", fields: [{ ...days, choices }] } }));
  const page = await open("/inbox/e1");
  await page.getByRole("button", { name: "Send", exact: true }).click();

  await page.getByText('"Days" is missing').waitFor();
  await page.locator("input[type=checkbox]:focus").waitFor();
});

stage("a form fits a phone, and can be declined or dismissed", async ({ api, open }) => {
  api.put(elicitation({ form: { message: "Who is it?", fields } }));
  const page = await open("/inbox/e1");
  const card = page.getByRole("article").filter({ hasText: "Who is it?" });
  await card.getByRole("button", { name: "Decline" }).waitFor();
  assert.deepEqual(await overflowing(page), []);

  const sent = page.waitForRequest((request) => request.url().endsWith("/decision"));
  await card.getByRole("button", { name: "Dismiss" }).click();

  assert.deepEqual((await sent).postDataJSON(), { version: 1, decision: "cancel" });
  await card.getByText("Dismissed").waitFor();
});

stage("a secret field shows nothing, beside others that do", async ({ api, open }) => {
  const login: FormView["fields"] = [
    { name: "user", label: "User", type: "string", required: true, secret: false },
    { name: "password", label: "Password", type: "string", required: true, secret: true },
  ];
  api.put(elicitation({ form: { message: "Log in", fields: login }, secret: true }));
  const page = await open("/inbox/e1", { viewport: desktop });
  const card = page.getByRole("article").filter({ hasText: "Log in" });

  await card.getByLabel("User").fill("ada");
  await card.getByLabel("Password").fill("canary");

  assert.equal(await card.getByLabel("User").getAttribute("type"), "text");
  assert.equal(await card.getByLabel("Password").getAttribute("type"), "password");
  assert.deepEqual(await violations(page), []);
  await card.getByRole("button", { name: "Send", exact: true }).click();
  await card.getByText("Sent sealed").waitFor();
  assert.ok(!(await page.content()).includes("canary"));
});

stage(
  "a page is shown by its whole address and opens only after a second word, knowing nothing of ours",
  async ({ api, open }) => {
    const url = "https://id.example/login?client=crm&next=https%3A%2F%2Fcrm.example#top";
    api.put(elicitation({ link: { message: "Sign in there", url } }));
    const page = await open("/inbox/e1", { viewport: desktop });
    const card = page.getByRole("article").filter({ hasText: "Sign in there" });
    const address = card.getByLabel("Page to open");
    await address.waitFor();
    assert.equal(await address.textContent(), url);
    assert.equal(await address.locator("strong").textContent(), "id.example");
    assert.equal(await card.getByRole("link", { name: /id\.example/ }).count(), 0);

    await card.getByRole("button", { name: "Open the page…" }).click();
    await card.getByText("Open id.example in a new tab?").waitFor();
    const way = card.getByRole("link", { name: "Open id.example" });
    assert.deepEqual(
      [await way.getAttribute("href"), await way.getAttribute("target"), await way.getAttribute("rel")],
      [url, "_blank", "noopener noreferrer"],
    );
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Escape");
    await card.getByRole("button", { name: "Open the page…" }).click();

    const requested = page.context().waitForEvent(
      "request",
      (request) => request.url().startsWith("https://id.example"),
    );
    await page.context().route("https://id.example/**", (route) => route.fulfill({ body: "there" }));
    const sent = page.waitForRequest((request) => request.url().endsWith("/decision"));
    const opened = page.context().waitForEvent("page");
    await card.getByRole("link", { name: "Open id.example" }).click();

    assert.deepEqual((await sent).postDataJSON(), { version: 1, decision: "answer" });
    assert.equal((await requested).headers().referer, undefined);
    assert.equal(await (await opened).evaluate(() => globalThis.opener), null);
    await card.getByText("Opened").waitFor();
  },
);

stage("an address that may not be opened has no way to open it", async ({ api, open }) => {
  api.put(elicitation({ link: { message: "Sign in there", url: "javascript:alert(1)" } }));
  const page = await open("/inbox/e1", { viewport: desktop });
  const card = page.getByRole("article").filter({ hasText: "Sign in there" });

  await card.getByText("This address may not be opened.").waitFor();
  assert.equal(await card.getByRole("button", { name: "Open the page…" }).count(), 0);
});

stage("a question that nobody waits for any more says so and takes no answer", async ({ api, open }) => {
  const item = elicitation({ form: { message: "Who is it?", fields } });
  api.put(item);
  const page = await open("/inbox/e1", { viewport: desktop });
  const card = page.getByRole("article").filter({ hasText: "Who is it?" });
  await card.getByRole("button", { name: "Send", exact: true }).waitFor();

  api.put({ ...item, state: "superseded", version: 2, note: "The call that asked has ended." });

  await card.getByText("The call that asked has ended.").waitFor();
  assert.equal(await card.getByRole("button", { name: "Send", exact: true }).count(), 0);
});

stage("what was handed on stands first, with whom it was handed on to", async ({ api, open }) => {
  const now = Date.now();
  api.put(elicitation({
    form: { message: "Who is it?", fields },
    escalated: { at: now, round: 1 },
    delegatedTo: { id: "u2", name: "Grace" },
  }));
  const page = await open("/", { viewport: desktop });
  const first = page.getByRole("article").first();

  await first.getByText("Escalated").waitFor();
  await first.getByText("Nobody decided in time; now Grace is asked to.").waitFor();
});
