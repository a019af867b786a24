/**
 * The browser of the tests: Debian's Chromium (`CHROMIUM`, default `/usr/bin/chromium`). Without it browser tests are skipped with a message, unless
 * `CI` is set, where they fail.
 */
import { type Browser, chromium } from "playwright-core";

const executablePath = Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium";

/** Sizes that every screen must be good at. */
export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 800 };

/** Whether browser tests must be skipped on this machine. */
export const skipBrowser: boolean = await shouldSkip();

/** Starts the browser; close it when done. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
    ],
  });
}

async function shouldSkip(): Promise<boolean> {
  try {
    if ((await Deno.stat(executablePath)).isFile) return false;
  } catch {
    // Not there: said below.
  }
  if (Deno.env.get("CI") !== undefined) return false;
  console.log(`no Chromium at ${executablePath}: the browser tests are skipped; set CHROMIUM to run them`);
  return true;
}
