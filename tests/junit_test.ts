/** The gate's closing line is only as good as this reading of Deno's report. */
import assert from "node:assert/strict";
import { readReport } from "./junit.ts";

const step = (name: string, body: string) =>
  `<testcase name="${name}" classname="./a_test.ts" time="0.003" line="2" col="6">\n${body}</testcase>\n`;
const failure = '<failure message="Uncaught Error: boom">Error: 1 &lt; 2\nsecond line</failure>\n';
const suite = (cases: string) =>
  `<testsuites name="deno test"><testsuite name="./a_test.ts">${cases}</testsuite></testsuites>`;

Deno.test("a report names each failure by file, name and error", () => {
  assert.deepEqual(
    readReport(suite(step("a &gt; b", failure) + step("fine", "") + step("left", "<skipped/>"))),
    {
      passed: 1,
      skipped: 1,
      failures: [{ file: "./a_test.ts", name: "a > b", error: "Error: 1 < 2\nsecond line" }],
    },
  );
});

Deno.test("of a step tried twice only the last try counts", () => {
  assert.equal(readReport(suite(step("a &gt; b", failure) + step("a &gt; b", ""))).failures.length, 0);
  assert.deepEqual(readReport(suite(step("a", failure) + step("a", failure))).failures.length, 1);
});
