/**
 * A runtime in a process of its own, for tests that stop or kill the supervisor: `deno run -A runtime_process.ts FOLDER`. Prints a line of
 * JSON once everything lives, and another one for each empty line on stdin, after one more message was handled; any other line is a fault for
 * `conversation/a`. A second argument is the time after which a silent actor hangs, in milliseconds.
 */
import { TestRuntime } from "./test_runtime.ts";

const folder = Deno.args[0];
if (folder === undefined) throw new TypeError("'FOLDER' is missing");
const test = await TestRuntime.start({ folder, limits: { hangMs: Number(Deno.args[1] ?? 1_500) } });
const refs = ["conversation/a", "conversation/b"];
let handled = 0;

async function tell(): Promise<void> {
  handled++;
  await test.insertAll(refs.map((ref) => [ref, "test.add", { n: 1 }]));
  await test.until("it is done", async () => {
    const totals = await Promise.all(refs.map((ref) => test.total(ref)));
    return totals.every((total) => total === handled);
  });
  await test.until("all live", () => test.runtime.actors().every((actor) => actor.state === "live"));
  // An actor lives before the row of its beginning is on disk.
  await test.until("all beginnings are rows", async () => {
    const rows = await test.rows("SELECT ref FROM actors WHERE incarnation > 0");
    return rows.length === test.runtime.actors().length;
  });
  const pids = [...new Set(test.runtime.actors().map((actor) => actor.pid))];
  const downs = await test.rows("SELECT ref, reason FROM downs");
  console.log(JSON.stringify({ pids, downs }));
}

await tell();
const lines = Deno.stdin.readable.getReader();
for (let line; !(line = await lines.read()).done;) {
  const fault = new TextDecoder().decode(line.value).trim();
  if (fault === "") await tell();
  else await test.insert("conversation/a", "test.fault", { fault });
}
await test.stop();
