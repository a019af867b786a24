/** The screens about policy in a real browser, full, empty and with long words: each passes axe and fits its width. */
import assert from "node:assert/strict";
import { LONG_WORD } from "../doubles/fake_api/long_words.ts";
import { desktop } from "./chromium.ts";
import { overflowing, stage, violations } from "./stage.ts";

const screens: readonly (readonly [path: string, sign: string])[] = [
  ["/policy", "Every decision, chained"],
  ["/policy/rules", "Night shift"],
  ["/policy/rules/default", "git push --force"],
  ["/policy/rules/nowhere", "There is no such group"],
  ["/policy/try", "Command line"],
  ["/policy/bypasses", "every tool"],
  ["/policy/profiles", "Nightly jobs"],
  ["/policy/schedules", "disk-watch"],
  ["/policy/gate", "Two people must allow"],
  ["/policy/audit", "Rejected"],
];

/** Screens without a text that could be long. */
const fixed: readonly string[] = ["/policy", "/policy/rules/nowhere", "/policy/try", "/policy/gate"];

for (
  const [name, options] of [["a phone", {}], ["a wide dark screen", {
    viewport: desktop,
    dark: true,
  }]] as const
) {
  stage(`every policy screen on ${name} passes axe and fits its width`, async ({ open }) => {
    for (const [path, sign] of screens) {
      const page = await open(path, options);
      await page.getByText(sign).locator("visible=true").first().waitFor();

      assert.deepEqual(await violations(page), [], path);
      assert.deepEqual(await overflowing(page), [], path);
      await page.close();
    }
  });

  stage(`no word however long pushes anything out of a policy screen on ${name}`, async ({ api, open }) => {
    api.longWords = true;
    for (const [path] of screens.filter(([path]) => !fixed.includes(path))) {
      const page = await open(path, options);
      await page.getByText(LONG_WORD).locator("visible=true").first().waitFor();

      assert.deepEqual(await overflowing(page), [], path);
      await page.close();
    }
  });

  stage(`empty policy screens on ${name} say so and pass axe`, async ({ api, open }) => {
    api.empty = true;
    for (
      const [path, sign] of [
        ["/policy/bypasses", "No bypass in force"],
        ["/policy/schedules", "Nothing is scheduled"],
        ["/policy/audit", "Nothing was decided yet"],
      ] as const
    ) {
      const page = await open(path, options);
      await page.getByText(sign).waitFor();
      assert.deepEqual(await violations(page), [], path);
      await page.close();
    }
  });
}
