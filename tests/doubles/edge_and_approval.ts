/**
 * The edge with the real approval actor behind it: what a person changes over HTTP is carried out, judged by and recorded as in the product.
 */
import assert from "node:assert/strict";
import { seed } from "../../store/seeds.ts";
import { ApprovalDesk } from "./approval_desk.ts";
import { Bench, type BenchOptions, type Client } from "./edge_bench.ts";

/** An installation with its approval at work: the doorbell lets it handle what is there. */
export async function withApproval(
  test: (bench: Bench, owner: Client) => Promise<void>,
  { config = {}, deps = {} }: BenchOptions = {},
): Promise<void> {
  let working: Promise<void> = Promise.resolve();
  const doorbell = () => {
    working = working.then(async () => {
      const desk = await ApprovalDesk.over(bench.db, () => crypto.randomUUID());
      desk.now = bench.clock.now();
      await desk.work();
      bench.app.notify();
    });
  };
  const bench = await Bench.open({ config, deps: { ...deps, doorbell } });
  try {
    await seed(bench.db, 1);
    await bench.lease();
    await bench.run(
      `INSERT INTO known_tools VALUES ('exec_command', 'builtin', 'exec', 'Runs', '{}', 'h', NULL, 0, NULL, 1, 1, 1, NULL),
       ('write_file', 'builtin', 'write', 'Writes', '{}', 'h', NULL, 0, NULL, 1, 1, 1, NULL)`,
    );
    await test(bench, await bench.owner());
  } finally {
    await working;
    await bench.close();
  }
}

/** The answer to a change, and its id. The commands' clock stands still here, so whoever waits is told to look until the answer is there. */
export async function done(bench: Bench, answer: Promise<Response>): Promise<string> {
  let waiting = true;
  answer.finally(() => waiting = false);
  while (waiting) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    bench.app.notify();
  }
  const response = await answer;
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).id;
}
