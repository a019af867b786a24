/** Proves that every test which SECURITY.md names is there, under that name. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

Deno.test("every test that SECURITY.md names exists", async () => {
  const text = await Deno.readTextFile(`${root}SECURITY.md`);
  const cited = [...text.matchAll(/`([\w/]+_test\.ts)`: "([^"]+)"/g)];
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && line.includes("_test.ts"));

  for (const [, file = "", name = ""] of cited) {
    const source = await Deno.readTextFile(root + file);
    assert.ok(source.includes(`"${name}"`), `${file} has no test "${name}"`);
  }
  assert.equal(cited.length, rows.length, "a row names one test");
  assert.ok(rows.length > 30);
});
