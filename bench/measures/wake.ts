/**
 * Waking: from sending a message to a sleeping actor until the commit of its first decision is on disk and its answer is here. Warm: a spare Worker
 * waits. Cold: the spare was taken a moment ago and the next one has not been started.
 */
import { sql } from "../../store/db.ts";
import { BenchRuntime } from "../bench_runtime.ts";
import type { Measure } from "../measure.ts";
import { Samples } from "../samples.ts";
import type { Row } from "../table.ts";

/** Long enough for a new spare: a pause of 25 ms and a spawn. */
const SPARE_READY_MS = 150;

/** The measure. */
export const wake: Measure = {
  name: "wake",
  about: "activation of a sleeping actor: message to first commit",
  async run(bench) {
    const runtime = await BenchRuntime.start(await bench.folder(), { idleMs: 300, tickMs: 100 });
    const warm = new Samples();
    const cold = new Samples();
    try {
      await seed(runtime, 1_000);
      for (let round = 0; round < (bench.quick ? 10 : 120); round++) {
        await pause(SPARE_READY_MS);
        warm.add(await timed(runtime, `counter/warm${round}`));
        cold.add(await timed(runtime, `counter/cold${round}`));
      }
    } finally {
      await runtime.stop();
    }
    return [rowOf("with a warm spare", warm, 3), rowOf("cold", cold, 18)];
  },
};

async function timed(runtime: BenchRuntime, ref: string): Promise<number> {
  const began = performance.now();
  await runtime.ask(ref, "bench.ask");
  return performance.now() - began;
}

/** Actors that have been there before: each has an event. */
async function seed(runtime: BenchRuntime, count: number): Promise<void> {
  const refs = Array.from(
    { length: count },
    (_, index) => `counter/${index % 2 ? "warm" : "cold"}${index >> 1}`,
  );
  await runtime.store.batch(
    refs.map((ref) =>
      sql("INSERT INTO events (actor, seq, type, payload, at) VALUES (?, 1, 'counted', '{}', 0)", ref)
    ),
  );
}

function rowOf(name: string, samples: Samples, goalMs: number): Row {
  return {
    measure: "wake",
    case: name,
    subject: "callboard",
    value: samples.p50,
    unit: "ms p50",
    detail: `p99 ${samples.p99.toFixed(1)} ms, ${samples.count} wakes`,
    goals: [{ text: `p50 ≤ ${goalMs} ms`, met: samples.p50 <= goalMs }],
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
