/**
 * Recovery: 1,000 actors with 100 queued messages each; the supervisor's whole tree is killed while it works and started again. How long until
 * everything is done, whether anything was lost or done twice, and how long the new process was ever deaf meanwhile.
 */
import { newId } from "../../lib/ids.ts";
import { sql } from "../../store/db.ts";
import { insertMessage } from "../../store/mail.ts";
import { openBenchStore } from "../bench_runtime.ts";
import { Connection } from "../load.ts";
import type { Bench, Measure } from "../measure.ts";
import { type ServerProcess, startServer } from "../servers/server_process.ts";

const PER_ACTOR = 100;
const PROBE_MS = 10;
const GIVE_UP_MS = 180_000;

/** The measure. */
export const recovery: Measure = {
  name: "recovery",
  about: "kill -9 with 1,000 × 100 queued messages; time to done, and health meanwhile",
  async run(bench) {
    const actors = bench.quick ? 50 : 1_000;
    const folder = await bench.folder();
    await enqueue(folder, actors);
    await killWhileItWorks(folder, actors);
    const { doneMs, deafMs, firstAnswerMs } = await recover(bench, folder);
    const { total, distinct } = await count(folder);
    const wanted = actors * PER_ACTOR;
    return [{
      measure: "recovery",
      case: `${actors} actors × ${PER_ACTOR} messages after kill -9`,
      subject: "callboard",
      value: doneMs / 1_000,
      unit: "s until all done",
      detail: `${wanted - distinct} lost, ${total - distinct} twice; first answer after ${
        Math.round(firstAnswerMs)
      } ms, then deaf for at most ${Math.round(deafMs)} ms`,
      goals: [
        { text: "≤ 10 s", met: doneMs <= 10_000 },
        { text: "health within 0.5 s", met: deafMs <= 500 },
        { text: "nothing lost or doubled", met: total === wanted && distinct === wanted },
      ],
    }];
  },
};

function start(folder: string): Promise<ServerProcess> {
  const server = new URL("../servers/callboard.ts", import.meta.url).pathname;
  return startServer({ command: Deno.execPath(), args: ["run", "-A", server, folder] });
}

async function enqueue(folder: string, actors: number): Promise<void> {
  const store = await openBenchStore(folder);
  for (let n = 0; n < PER_ACTOR; n++) {
    const rows = Array.from({ length: actors }, (_, actor) =>
      insertMessage({
        id: newId(),
        to: `counter/r${actor}`,
        from: "edge",
        type: "bench.add",
        lane: "normal",
        payload: { n },
        at: Date.now(),
      }));
    await store.batch(rows.flat());
  }
  await store.close();
}

/** Lets it do some of the work, so that there are incarnations to be lost. */
async function killWhileItWorks(folder: string, actors: number): Promise<void> {
  await using server = await start(folder);
  using connection = await Connection.open(server.port);
  while (Number(await connection.post("/left")) > 0.95 * actors * PER_ACTOR) await pause(PROBE_MS);
}

async function recover(bench: Bench, folder: string) {
  const began = performance.now();
  await using server = await start(folder);
  let firstAnswerMs = NaN;
  let deafMs = 0;
  let done = false;
  const probe = async () => {
    using connection = await Connection.open(server.port);
    while (!done) {
      const asked = performance.now();
      await connection.post("/health");
      const answered = performance.now();
      if (Number.isNaN(firstAnswerMs)) firstAnswerMs = answered - began;
      deafMs = Math.max(deafMs, answered - asked);
      await pause(PROBE_MS);
    }
  };
  const probing = probe();
  using connection = await Connection.open(server.port);
  for (let left = NaN; left !== 0; await pause(100)) {
    left = Number(await connection.post("/left"));
    if (performance.now() - began > GIVE_UP_MS) throw new Error(`${left} messages are still open`);
  }
  const doneMs = performance.now() - began;
  done = true;
  await probing;
  bench.say(`recovered in ${Math.round(doneMs)} ms, deaf for ${Math.round(deafMs)} ms`);
  return { doneMs, deafMs, firstAnswerMs };
}

/** Events that are there, and different ones. */
async function count(folder: string): Promise<{ total: number; distinct: number }> {
  const store = await openBenchStore(folder);
  const rows = await store.query(
    sql("SELECT count(*), count(DISTINCT actor || ' ' || (payload ->> 'n')) FROM events"),
  );
  await store.close();
  const [total, distinct] = rows.rows[0] ?? [];
  return { total: Number(total), distinct: Number(distinct) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
