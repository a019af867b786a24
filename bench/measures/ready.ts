/** Ready time: from starting the supervisor's process on a data folder with 1,000 sleeping conversations until `/readyz` says yes. */
import { environment, fillWithSleepers } from "../installation.ts";
import type { Measure } from "../measure.ts";
import { Samples } from "../samples.ts";
import { startSupervisor } from "../../tests/supervisor_process.ts";

/** The measure. */
export const ready: Measure = {
  name: "ready",
  about: "start of the supervisor with data until /readyz is green",
  async run(bench) {
    const sleepers = bench.quick ? 100 : 1_000;
    const folder = await bench.folder();
    await fillWithSleepers(folder, sleepers);
    const times = new Samples();
    for (let round = 0; round < (bench.quick ? 3 : 11); round++) {
      const began = performance.now();
      const supervisor = await startSupervisor(environment(folder));
      while (!await isReady(supervisor.url));
      times.add(performance.now() - began);
      await supervisor.stop("SIGTERM");
    }
    return [{
      measure: "ready",
      case: `${sleepers} conversations in the database`,
      subject: "callboard",
      value: times.p50,
      unit: "ms p50",
      detail: `fastest ${Math.round(times.percentile(0))} ms, slowest ${Math.round(times.max)} ms`,
      goals: [{ text: "≤ 400 ms", met: times.p50 <= 400 }],
    }];
  },
};

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.body?.cancel();
  return response.ok;
}
