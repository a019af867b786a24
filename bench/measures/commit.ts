/**
 * One small commit at a time, FULL: through the supervisor's store (a Worker, behind the fence) beside the bare engines in this isolate.
 */
import { createClient } from "@libsql/client";
import { DatabaseSync } from "node:sqlite";
import { sql } from "../../store/db.ts";
import { openBenchStore } from "../bench_runtime.ts";
import type { Measure } from "../measure.ts";
import { Samples } from "../samples.ts";
import type { Row } from "../table.ts";

const INSERT = "INSERT INTO settings (key, value, at) VALUES (?, 'x', 0)";
const TABLE = "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, at INTEGER NOT NULL) STRICT";
const SETTINGS = ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", TABLE];

interface Subject {
  commit(key: string): unknown;
  close(): unknown;
}

/** The measure. */
export const commit: Measure = {
  name: "commit",
  about: "latency of one commit, FULL",
  async run(bench) {
    const subjects: [string, Subject][] = [
      ["callboard store", await ours(await bench.folder())],
      ["floor libSQL", await libsql(await bench.folder())],
      ["floor node:sqlite", sqlite(await bench.folder())],
    ];
    const times = new Map(subjects.map(([name]) => [name, new Samples()]));
    // In turns, so that other work on the machine hits all alike.
    for (let round = 0; round < (bench.quick ? 100 : 2_000); round++) {
      for (const [name, subject] of subjects) {
        const began = performance.now();
        await subject.commit(`k${round}`);
        times.get(name)?.add(performance.now() - began);
      }
    }
    for (const [, subject] of subjects) await subject.close();
    const floor = times.get("floor libSQL")?.p50 ?? NaN;
    return [...times].map(([name, samples], index): Row => ({
      measure: "commit latency",
      case: "one row at a time",
      subject: name,
      value: samples.p50,
      unit: "ms p50",
      detail: `p99 ${samples.p99.toFixed(2)} ms`,
      ...(index === 0 ? { ratios: [{ to: "floor libSQL", times: floor / samples.p50 }] } : {}),
    }));
  },
};

async function ours(folder: string): Promise<Subject> {
  const store = await openBenchStore(folder);
  return {
    async commit(key) {
      const result = await store.commit({ id: key, statements: [sql(INSERT, key)] });
      if (!result.ok) throw new Error(result.error.message);
    },
    close: () => store.close(),
  };
}

async function libsql(folder: string): Promise<Subject> {
  const client = createClient({ url: `file:${folder}/floor.db`, concurrency: 1, timeout: 5_000 });
  for (const text of SETTINGS) await client.execute(text);
  return {
    commit: (key) => client.batch([{ sql: INSERT, args: [key] }], "write"),
    close: () => client.close(),
  };
}

function sqlite(folder: string): Subject {
  const db = new DatabaseSync(`${folder}/floor.db`);
  for (const text of SETTINGS) db.exec(text);
  const insert = db.prepare(INSERT);
  return { commit: (key) => insert.run(key), close: () => db.close() };
}
