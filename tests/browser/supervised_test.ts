/**
 * The page against the real supervisor, where a fake API could promise what the product never sends.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { GateSettings, Item, ToolList } from "../../edge/api.ts";
import { unmarked } from "../doubles/unmarked_server.ts";
import { OWNER_TOKEN, World } from "../e2e/world.ts";
import { launchBrowser, phone, skipBrowser } from "./chromium.ts";

/** One test; the sanitizers do not know what Playwright keeps open to Chromium. */
function supervised(name: string, run: (world: World, page: Page) => Promise<void>): void {
  Deno.test({ name, ignore: skipBrowser, sanitizeOps: false, sanitizeResources: false }, async () => {
    await using world = await World.open({ file: { mcpServers: [unmarked()] } });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: phone });
      await page.goto(world.supervisor.url);
      await page.getByRole("textbox").fill(OWNER_TOKEN);
      await page.getByRole("button", { name: /sign in/i }).click();
      await page.getByRole("heading", { name: "Inbox" }).waitFor();
      await run(world, page);
    } finally {
      await browser.close();
    }
  });
}

supervised("an allowance of high risk is taken back by a tap before its call begins", async (world, page) => {
  await world.until(async () =>
    (await world.get<ToolList>("/api/tools")).tools.some(({ name }) => name === "mcp__plain__unmarked")
  );
  const gate = await world.get<GateSettings>("/api/gate");
  assert.equal((await world.send("/api/gate", { ...gate, undoSeconds: 120 }, "PUT")).status, 200);
  await world.send("/api/conversations", { text: "tool:mcp__plain__unmarked {}" });
  const { id } = await world.waiting(({ tool }) => tool === "mcp__plain__unmarked");

  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("button", { name: "Yes, allow it once" }).click();
  await page.getByRole("button", { name: "Take back" }).click();
  await page.getByText(/Taken back by/).first().waitFor();

  assert.equal((await world.get<Item>(`/api/inbox/${id}`)).state, "cancelled");
  assert.equal(await page.getByText("Done", { exact: true }).count(), 0);
});
