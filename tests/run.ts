/**
 * Runs `deno test` and closes with what failed, each by file, name and first lines of its error, and the plain line
 * `N passed, N failed, N skipped`, which every tool can read. Arguments are handed on to `deno test`, so one file may be named.
 * It exits as the tests did.
 */
import { readReport } from "./junit.ts";

const junit = await Deno.makeTempFile({ prefix: "callboard-junit-", suffix: ".xml" });
const started = performance.now();
const child = new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "--allow-all",
    "--no-prompt",
    "--frozen",
    "--sanitize-ops",
    "--sanitize-resources",
    `--junit-path=${junit}`,
    // The gate's machine is shared: a test gets a second try there. Deno names what needed it and why as flaky, and that is a bug to be mended;
    // on a developer's machine nothing is tried twice.
    ...(Deno.env.get("CI") === undefined ? [] : ["--retry=1"]),
    ...Deno.args,
  ],
  stdin: "null",
}).spawn();
const { code } = await child.status;

const report = readReport(await Deno.readTextFile(junit).catch(() => ""));
await Deno.remove(junit).catch(() => undefined);
for (const { file, name, error } of report.failures) console.log(`\nFAILED ${file}: ${name}\n${error}`);
console.log(`\nran for ${Math.round((performance.now() - started) / 1000)} s`);
// A run that broke before any test could fail is a failure all the same.
const failed = Math.max(report.failures.length, code === 0 ? 0 : 1);
console.log(`${report.passed} passed, ${failed} failed, ${report.skipped} skipped`);
Deno.exit(code);
