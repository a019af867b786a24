/**
 * A newcomer with no key and no configuration: the real supervisor, the printed link, the rehearsal model, in a real browser at a phone's and a
 * desktop's size. With `SCREENSHOTS=docs/img` the pictures of the README are written there.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { startFromCleanClone, startSupervisor } from "../supervisor_process.ts";
import { desktop, launchBrowser, phone, skipBrowser } from "./chromium.ts";

const pictures = Deno.env.get("SCREENSHOTS") ?? await Deno.makeTempDir({ prefix: "callboard-shots-" });

/** The sanitizers do not know what Playwright keeps open to Chromium. */
const options = { ignore: skipBrowser, sanitizeOps: false, sanitizeResources: false };

async function shoot(page: Page, name: string): Promise<void> {
  const path = `${pictures}/${name}.png`;
  await page.screenshot({ path, animations: "disabled" });
  assert.ok((await Deno.stat(path)).size > 5_000, "the picture shows something");
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/** From the printed link to an approved command, an answered question and a kept reminder. */
async function newcomer(page: Page, link: string, size: "phone" | "desktop"): Promise<void> {
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in on this device" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  assert.doesNotMatch(page.url(), /token=/, "the token has left the address bar");

  await page.getByRole("link", { name: "Chats" }).first().click();
  await page.getByRole("link", { name: "New chat" }).first().click();
  await say(page, "How full is the disk? Please run a shell command.");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await shoot(page, `chat-${size}`);

  await page.getByRole("link", { name: /Inbox/ }).first().click();
  await page.getByText("1 thing waits for you").waitFor();
  await shoot(page, `inbox-${size}`);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("Done", { exact: true }).waitFor();

  await page.getByRole("link", { name: "Chats" }).first().click();
  await page.getByRole("link", { name: /How full is the disk/ }).first().click();
  const log = page.getByRole("log");
  await log.getByText(/what came back, unaltered/).waitFor();
  await log.getByText(/rehearsal model/i).first().waitFor();
  await shoot(page, `answer-${size}`);

  await page.getByRole("link", { name: "Actors" }).first().click();
  await page.getByText("approval").first().waitFor();
  await shoot(page, `actors-${size}`);
}

Deno.test({
  name: "a newcomer follows the README from a clean clone, on a phone and on a desktop",
  ...options,
}, async () => {
  const folder = await Deno.makeTempDir({ prefix: "callboard-newcomer-" });
  const supervisor = await startFromCleanClone(folder);
  const browser = await launchBrowser();
  try {
    const errors: string[] = [];
    for (const [size, viewport] of [["phone", phone], ["desktop", desktop]] as const) {
      const context = await browser.newContext({
        viewport,
        colorScheme: size === "phone" ? "light" : "dark",
      });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on("pageerror", (error) => errors.push(error.message));
      await newcomer(
        page,
        size === "phone" ? supervisor.signInLink ?? "" : await newLink(folder, supervisor.url),
        size,
      );
      await context.close();
    }

    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await supervisor.stop("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});

/** The README's way to another link. */
async function newLink(folder: string, url: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "link", url],
    cwd: `${folder}/clone`,
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test(
  {
    name: "the rehearsal asks a question and keeps a reminder, and a chat outlives the supervisor",
    ...options,
  },
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "callboard-newcomer-" });
    const env = { CALLBOARD_DATA: folder, OWNER_TOKEN: "owner-token-for-tests-0123456789abcdef" };
    let supervisor = await startSupervisor(env);
    const port = new URL(supervisor.url).port;
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: phone });
      page.setDefaultTimeout(20_000);
      await page.goto(supervisor.url);
      await page.getByRole("textbox").fill(env.OWNER_TOKEN);
      await page.getByRole("button", { name: /sign in/i }).click();
      await page.getByRole("link", { name: "Chats" }).first().click();
      await page.getByRole("link", { name: "New chat" }).first().click();
      await say(page, "Ask me a question, please.");
      await page.getByRole("group", { name: /answer/i }).or(page.getByRole("button", { name: /answer/i }))
        .first().waitFor();

      await supervisor.stop("SIGTERM");
      supervisor = await startSupervisor({ ...env, PORT: port });
      await page.reload();
      const question = page.getByRole("article").first();
      await question.waitFor();
      await question.getByRole("textbox").fill("Blue, as always.");
      await question.getByRole("button", { name: /answer|send/i }).first().click();
      await page.getByRole("log").getByText(/Blue, as always/).first().waitFor();

      assert.equal(await supervisor.stop(), 0);
    } finally {
      await browser.close();
      await supervisor.stop("SIGKILL");
      await Deno.remove(folder, { recursive: true });
    }
  },
);
