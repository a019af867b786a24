/**
 * One hop: supervisor → host process → Worker → host process → supervisor, for a message that is no row. The floor is the same way without
 * frames, MACs and envelopes.
 */
import { BenchRuntime } from "../bench_runtime.ts";
import type { Measure } from "../measure.ts";
import { Samples } from "../samples.ts";
import type { Row } from "../table.ts";

/** The measure. */
export const hop: Measure = {
  name: "hop",
  about: "round trip supervisor, Worker, supervisor, without the database",
  async run(bench) {
    const runtime = await BenchRuntime.start(await bench.folder());
    const echo = startEcho();
    const ours = new Samples();
    const floor = new Samples();
    try {
      await runtime.ask("counter/a", "bench.ask");
      await echo.ask("warm up");
      for (let round = 0; round < (bench.quick ? 200 : 4_000); round++) {
        ours.add(await timed(() => runtime.ask("counter/a", "bench.ping")));
        floor.add(await timed(() => echo.ask("ping")));
      }
    } finally {
      await runtime.stop();
      await echo.close();
    }
    return [
      rowOf("callboard", ours, [{ to: "floor", times: floor.p50 / ours.p50 }]),
      rowOf("floor: lines on stdio", floor, []),
    ];
  },
};

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

function rowOf(subject: string, samples: Samples, ratios: Row["ratios"]): Row {
  return {
    measure: "hop",
    case: "one message that is no row",
    subject,
    value: samples.p50 * 1_000,
    unit: "µs p50",
    detail: `p99 ${Math.round(samples.p99 * 1_000)} µs`,
    ratios: ratios ?? [],
  };
}

interface Echo {
  ask(line: string): Promise<void>;
  close(): Promise<void>;
}

function startEcho(): Echo {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("../servers/echo_host.ts", import.meta.url).pathname],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.getReader();
  const encoder = new TextEncoder();
  return {
    async ask(line) {
      await input.write(encoder.encode(`${line}\n`));
      // A short line on an idle pipe arrives whole.
      await output.read();
    },
    async close() {
      await input.close();
      output.releaseLock();
      await child.stdout.cancel();
      await child.status;
    },
  };
}
