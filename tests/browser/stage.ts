/**
 * One browser test on a fresh fake API: the built page under the product's own security policy, and what a browser can say about a page that no
 * other test can: errors of its own, what axe finds, and what does not fit its width.
 */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { bundleUi } from "../../ui/bundle.ts";
import { type FakeApi, startFakeApi } from "../doubles/fake_api/fake_api.ts";
import { launchBrowser, phone, skipBrowser as ignore } from "./chromium.ts";

const axe = new URL("../../node_modules/axe-core/axe.min.js", import.meta.url);

/** The page on its stage. */
export interface Stage {
  readonly api: FakeApi;
  readonly browser: Browser;
  /** Opens a page that fails the test on any error of its own, violations of the policy included. */
  open(path: string, options?: { readonly viewport?: typeof phone; readonly dark?: boolean }): Promise<Page>;
  readonly errors: string[];
}

let built: Promise<string> | undefined;

/** The folder of the built UI: made by the first test of a process, gone with it. */
function builtUi(): Promise<string> {
  built ??= (async () => {
    const folder = await Deno.makeTempDir({ prefix: "callboard-browser-" });
    addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
    await bundleUi({ outDir: `${folder}/ui` });
    return `${folder}/ui`;
  })();
  return built;
}

/** One test on a fresh fake; the sanitizers do not know what Playwright keeps open to Chromium. */
export function stage(name: string, run: (stage: Stage) => Promise<void>, { signedIn = true } = {}): void {
  Deno.test({ name, ignore, sanitizeOps: false, sanitizeResources: false }, async () => {
    const api = await startFakeApi(await builtUi(), { signedIn });
    const browser = await launchBrowser();
    const errors: string[] = [];
    try {
      await run({
        api,
        browser,
        errors,
        async open(path, { viewport = phone, dark = false } = {}) {
          const page = await browser.newPage({
            viewport,
            colorScheme: dark ? "dark" : "light",
            serviceWorkers: "block",
          });
          page.on("pageerror", (error) => errors.push(error.message));
          page.on(
            "console",
            (line) => line.text().includes("Content Security Policy") && errors.push(line.text()),
          );
          await page.goto(`${api.url}${path}`);
          return page;
        },
      });
      assert.deepEqual(errors, []);
    } finally {
      await browser.close();
      await api.close();
    }
  });
}

/** Resolves when the page listens: what the API tells before that, it does not hear. */
export async function listening(page: Page): Promise<void> {
  await page.locator(".connection[data-state=live]").waitFor({ state: "attached" });
}

/** What axe finds wrong, as `rule: element`. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, which the page's policy does not bind.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: await Deno.readTextFile(axe) });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  // The expression above makes a list of strings.
  return result.value as string[];
}

/** Elements whose content is wider than they are by more than an outdent, but for those that cut with an ellipsis or are made to scroll sideways. */
export async function overflowing(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`[...document.querySelectorAll("body *")].filter((element) => {
    const style = getComputedStyle(element);
    const outdent = style.overflowX === "visible" ? 12 : 1;
    if (element.scrollWidth <= element.clientWidth + outdent || element.clientWidth <= 1) return false;
    if (style.display === "inline") return false;
    if (style.textOverflow === "ellipsis" && style.overflowX === "hidden") return false;
    return element.closest("pre, input, select, textarea, svg, .visually-hidden, [data-scroll-x]") === null;
  }).map((element) => element.tagName + "." + element.className + ": " + element.textContent.slice(0, 60))`);
}
