/**
 * Memory of the whole tree of processes, as PSS: the product at rest, what each live conversation adds (the real bundle, after a turn with the
 * rehearsal model), what each sleeping one adds, and 1,000 with 32 live.
 */
import { fillWithSleepers, Installation } from "../installation.ts";
import type { Bench, Measure } from "../measure.ts";
import { pssMiB } from "../process_tree.ts";
import type { Goal, Row } from "../table.ts";

const LIVE = 32;
/** Long enough for what was allocated at the start to be given back. */
const SETTLE_MS = 3_000;

/** The measure. */
export const memory: Measure = {
  name: "memory",
  about: "PSS of the whole tree: base, per live and per sleeping conversation, 1,000 with 32 live",
  async run(bench) {
    const sleepers = bench.quick ? 100 : 1_000;
    const empty = await measure(
      await bench.folder(),
      (installation) =>
        Promise.all(Array.from({ length: LIVE }, () => installation.say("hello"))).then(() => {}),
    );
    const full = await withSleepers(bench, sleepers);
    const perLive = (empty.live - empty.base) / LIVE;
    return [
      row("base, no conversation", empty.base, "MiB", { text: "≤ 120 MiB", met: empty.base <= 120 }),
      row(`per live conversation (${LIVE})`, perLive, "MiB", { text: "≤ 12 MiB", met: perLive <= 12 }),
      row(`per sleeping conversation (${sleepers})`, 1_024 * (full.base - empty.base) / sleepers, "KiB"),
      row(`${sleepers} conversations, ${LIVE} live`, full.live, "MiB", {
        text: "≤ 500 MiB",
        met: full.live <= 500,
      }),
    ];
  },
};

async function withSleepers(bench: Bench, count: number) {
  const folder = await bench.folder();
  await fillWithSleepers(folder, count);
  return await measure(folder, async (installation) => {
    const some = (await installation.conversations()).slice(0, LIVE);
    await Promise.all(some.map(({ id }) => installation.say("hello again", id)));
  });
}

async function measure(
  folder: string,
  wake: (installation: Installation) => Promise<void>,
): Promise<{ base: number; live: number }> {
  const installation = await Installation.start(folder, { IDLE_SECONDS: "600" });
  try {
    await settle();
    const base = pssMiB(installation.supervisor.pid);
    await wake(installation);
    await installation.settled(LIVE);
    await settle();
    return { base, live: pssMiB(installation.supervisor.pid) };
  } finally {
    await installation.stop();
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

function row(name: string, value: number, unit: string, goal?: Goal): Row {
  return { measure: "memory", case: name, subject: "callboard", value, unit, goals: goal ? [goal] : [] };
}
