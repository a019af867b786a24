/** Timers: messages with `notBefore`, spread over 10 s and 50 live actors; how late each one is in its actor's hands. */
import { BenchRuntime } from "../bench_runtime.ts";
import type { Measure } from "../measure.ts";
import { Samples } from "../samples.ts";

const ACTORS = 50;

/** The measure. */
export const timers: Measure = {
  name: "timers",
  about: "lateness of messages that are due at a time",
  async run(bench) {
    const runtime = await BenchRuntime.start(await bench.folder());
    const late = new Samples();
    let early = 0;
    try {
      const refs = Array.from({ length: ACTORS }, (_, index) => `counter/t${index}`);
      await Promise.all(refs.map((ref) => runtime.ask(ref, "bench.ask")));
      const start = Date.now() + 2_000;
      const count = bench.quick ? 100 : 1_000;
      const spreadMs = bench.quick ? 2_000 : 10_000;
      await Promise.all(Array.from({ length: count }, async (_, index) => {
        const notBefore = start + Math.floor(spreadMs * index / count);
        const { lateMs } = await runtime.ask(refs[index % ACTORS] ?? "", "bench.ask", { notBefore });
        late.add(lateMs ?? NaN);
        if ((lateMs ?? 0) < 0) early++;
      }));
    } finally {
      await runtime.stop();
    }
    return [{
      measure: "timer lateness",
      case: `${late.count} timers, ${ACTORS} live actors`,
      subject: "callboard",
      value: late.p99,
      unit: "ms p99",
      detail: `p50 ${late.p50} ms, max ${late.max} ms, ${early} early`,
      goals: [{ text: "p99 ≤ 10 ms, none early", met: late.p99 <= 10 && early === 0 }],
    }];
  },
};
