/**
 * Runs the benchmarks and prints one table: `deno task bench [NAME…] [--quick] [--json] [--all-peers]`. Without names everything runs. Peers are fetched
 * from npm into a temporary folder when they are not there yet. What is measured, and the last figures: `docs/benchmarks.md`.
 */
import { readMachine } from "./machine.ts";
import type { Bench, Measure } from "./measure.ts";
import { commit } from "./measures/commit.ts";
import { hop } from "./measures/hop.ts";
import { inbox } from "./measures/inbox.ts";
import { memory } from "./measures/memory.ts";
import { ready } from "./measures/ready.ts";
import { recovery } from "./measures/recovery.ts";
import { request } from "./measures/request.ts";
import { timers } from "./measures/timers.ts";
import { wake } from "./measures/wake.ts";
import { formatTable, type Row } from "./table.ts";

const measures: readonly Measure[] = [request, wake, commit, hop, timers, recovery, memory, ready, inbox];

if (import.meta.main) await main(Deno.args);

async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => !arg.startsWith("--"));
  const unknown = names.filter((name) => !measures.some((measure) => measure.name === name));
  if (unknown.length > 0) {
    console.error(`There is no measure "${unknown.join('", "')}". There are:`);
    for (const { name, about } of measures) console.error(`  ${name.padEnd(10)} ${about}`);
    Deno.exit(64);
  }
  const folders: string[] = [];
  const bench: Bench = {
    quick: args.includes("--quick"),
    allPeers: args.includes("--all-peers"),
    say: (text) => console.error(`  ${text}`),
    async folder() {
      const folder = await Deno.makeTempDir({ prefix: "callboard-bench-" });
      folders.push(folder);
      return folder;
    },
  };
  try {
    const machine = await readMachine(await bench.folder());
    const rows: Row[] = [];
    for (const measure of measures) {
      if (names.length > 0 && !names.includes(measure.name)) continue;
      console.error(`${measure.name}: ${measure.about}`);
      try {
        rows.push(...await measure.run(bench));
      } catch (error) {
        // The others are worth having.
        console.error(`${measure.name} failed:`, error);
        Deno.exitCode = 1;
      }
    }
    if (args.includes("--json")) return console.log(JSON.stringify({ machine, rows }, null, 1));
    console.log(`\n${JSON.stringify(machine)}\n\n${formatTable(rows)}`);
  } finally {
    for (const folder of folders) await Deno.remove(folder, { recursive: true });
  }
}
