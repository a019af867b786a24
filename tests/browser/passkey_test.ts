/**
 * Passkeys from end to end: the built page in Chromium with its virtual authenticator, the real edge and the real approval actor behind it.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { EdgeApp } from "../../edge/app.ts";
import { FRESH_MS } from "../../edge/fresh.ts";
import { folderUi } from "../../edge/ui_files.ts";
import { bundleUi } from "../../ui/bundle.ts";
import { OWNER_TOKEN } from "../doubles/edge_bench.ts";
import { withApproval } from "../doubles/edge_and_approval.ts";
import { launchBrowser, phone, skipBrowser as ignore } from "./chromium.ts";
import { overflowing, violations } from "./stage.ts";

/** Gives the page a device that holds passkeys and verifies its person at once. */
async function addAuthenticator(
  page: Page,
): Promise<{ readonly verifies: (does: boolean) => Promise<void> }> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async verifies(isUserVerified) {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
  };
}

/** The page at its own origin, before an edge whose clock is the test's; nobody is signed in. */
async function onStage(run: (page: Page, advance: (ms: number) => Promise<void>) => Promise<void>) {
  const folder = await Deno.makeTempDir({ prefix: "callboard-passkeys-" });
  const app = Promise.withResolvers<EdgeApp>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => await (await app.promise).fetch(request),
  );
  const browser = await launchBrowser();
  const errors: string[] = [];
  try {
    await bundleUi({ outDir: `${folder}/ui` });
    const publicUrl = `http://localhost:${server.addr.port}`;
    await withApproval(async (bench) => {
      app.resolve(bench.app);
      const page = await browser.newPage({ viewport: phone, serviceWorkers: "block" });
      page.setDefaultTimeout(15_000);
      page.on("pageerror", (error) => errors.push(error.message));
      page.on(
        "console",
        (line) => line.text().includes("Content Security Policy") && errors.push(line.text()),
      );
      await page.goto(publicUrl);
      await run(page, (ms) => bench.clock.advance(ms));
      await page.close();
    }, { config: { publicUrl }, deps: { ui: await folderUi(`${folder}/ui`) } });
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The sanitizers do not know what Playwright keeps open to Chromium. */
const options = { ignore, sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "a passkey is made, signs in, and confirms a change of rules in a real browser",
  options,
  () =>
    onStage(async (page, advance) => {
      const device = await addAuthenticator(page);
      await page.getByLabel("Sign-in link or token").waitFor();
      assert.equal(await page.getByRole("button", { name: "Sign in with a passkey" }).count(), 0);
      await page.getByLabel("Sign-in link or token").fill(OWNER_TOKEN);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Settings" }).first().click();
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("never used").waitFor();
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(await overflowing(page), []);
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("This device has a passkey of yours already").waitFor();
      await page.getByRole("button", { name: /^Rename/ }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("My phone");
      await page.keyboard.press("Enter");
      await page.getByText("My phone").waitFor();

      await page.getByRole("button", { name: "Sign out of this device" }).click();
      const door = page.getByRole("button", { name: "Sign in with a passkey" });
      await door.waitFor();
      assert.deepEqual(await violations(page), []);
      await device.verifies(false);
      await door.click();
      await page.getByText("The browser gave no passkey").waitFor();
      await device.verifies(true);
      await door.click();
      await page.getByRole("link", { name: "Settings" }).first().waitFor();

      await advance(FRESH_MS);
      await page.goto(`${new URL(page.url()).origin}/policy/rules/default`);
      await page.getByRole("button", { name: "Add rule" }).click();
      const form = page.getByRole("dialog");
      await form.getByRole("combobox", { name: "Tool" }).fill("exec_command");
      await form.getByRole("button", { name: "Save rule" }).click();
      const question = page.getByRole("dialog", { name: "Is it still you?" });
      await question.getByRole("button", { name: "Use a passkey" }).and(page.locator(":focus")).waitFor();
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(await overflowing(page), []);
      await page.keyboard.press("Enter");
      await question.waitFor({ state: "detached" });
      await form.waitFor({ state: "detached" });
      await page.locator(".rule-list").getByText("exec_command").first().waitFor();

      await page.goto(`${new URL(page.url()).origin}/settings`);
      await page.getByRole("button", { name: "Remove My phone" }).click();
      await page.getByRole("button", { name: "Remove this passkey" }).click();
      await page.getByText("My phone").waitFor({ state: "detached" });
    }),
);

Deno.test(
  "a page opened by its IP address offers no passkey and says why",
  options,
  () =>
    onStage(async (page) => {
      await page.goto(page.url().replace("localhost", "127.0.0.1"));
      await page.getByLabel("Sign-in link or token").fill(OWNER_TOKEN);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Settings" }).first().click();

      await page.getByText(/this page was opened by its IP address; open http:\/\/localhost/).waitFor();
      assert.equal(await page.getByRole("button", { name: "Add a passkey" }).count(), 0);
      assert.deepEqual(await overflowing(page), []);
    }),
);
