/**
 * The runtime under a seeded simulation. A failing run prints its seed: `SEED=7 deno task test tests/sim` runs only that one again, step by step
 * the same. `STEPS` sets the steps of a run, `SEEDS` how many are tried from `SEED` (or 1) on, `LOUD=1` prints everything that happens.
 */
import assert from "node:assert/strict";
import { run, type RunReport } from "./simulation.ts";

const SEEDS = 5;
const STEPS = 8_000;

const first = setting("SEED", 1);
const count = setting("SEEDS", Deno.env.has("SEED") ? 1 : SEEDS);
const steps = setting("STEPS", STEPS);

for (let seed = first; seed < first + count; seed++) {
  Deno.test(`delivery holds its promises under every fault (seed ${seed})`, async () => {
    const started = performance.now();
    const report = await run({ seed, steps, loud: Deno.env.has("LOUD") });

    const { violation } = report;
    assert.equal(violation, undefined, violation ? story(report) : "no promise is broken");
    const perSecond = Math.round(report.steps / ((performance.now() - started) / 1_000));
    console.log(
      `seed ${seed}: ${report.steps} steps (${perSecond}/s), ${report.messages} messages, ${report.downs} downs`,
    );
  });
}

Deno.test("the same seed gives the same run", async () => {
  const [once, again] = [await run({ seed: 3, steps: 1_500 }), await run({ seed: 3, steps: 1_500 })];

  assert.deepEqual(again, once);
});

function setting(name: string, otherwise: number): number {
  const text = Deno.env.get(name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} must be a whole number`);
  return value;
}

/** What broke, how to see it again, and what happened before. */
function story({ seed, steps: taken, violation, trace }: RunReport): string {
  return [
    `"${violation?.promise}" is broken at step ${taken}: ${violation?.detail}`,
    `run it again: SEED=${seed} STEPS=${steps} deno task test tests/sim/sim_test.ts`,
    ...trace.map((line) => `  ${line.slice(0, 300)}`),
  ].join("\n");
}
