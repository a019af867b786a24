/**
 * Durable requests: a message is committed (FULL), an actor handles it, its state and its answer are committed (FULL), the caller has the answer.
 * Every subject is a server process of its own under the same HTTP load, subjects alternating round by round; the middle round counts.
 */
import { Connection, load } from "../load.ts";
import type { Bench, Measure } from "../measure.ts";
import { startDurableObject } from "../peers/durable_object.ts";
import { startRivet } from "../peers/rivet.ts";
import { cpuSeconds } from "../process_tree.ts";
import { median } from "../samples.ts";
import { type ServerProcess, startServer } from "../servers/server_process.ts";
import type { Goal, Ratio, Row } from "../table.ts";

interface Subject {
  readonly name: string;
  readonly verb: string;
  start(folder: string): Promise<ServerProcess | { readonly missing: string }>;
}

interface Cell {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuUs: number;
}

const local = (name: string, file: string, verb = "ask", ...args: string[]): Subject => ({
  name,
  verb,
  start: (folder) =>
    startServer({
      command: Deno.execPath(),
      args: [
        "run",
        "-A",
        "--cached-only",
        new URL(`../servers/${file}`, import.meta.url).pathname,
        folder,
        ...args,
      ],
    }),
});

const OURS = "callboard";
const LIBSQL = "floor libSQL";
const OBJECT = "durable object";

const subjects: readonly Subject[] = [
  local(OURS, "callboard.ts"),
  local(`${OURS}, reply without a row`, "callboard.ts", "tell"),
  local(LIBSQL, "floor.ts", "ask", "libsql"),
  local("floor node:sqlite", "floor.ts", "ask", "sqlite"),
  { name: OBJECT, verb: "ask", start: startDurableObject },
  { name: "rivetkit", verb: "ask", start: startRivet },
];

const CASES = [1, 50].flatMap((actors) => [1, 16, 64].map((inFlight) => ({ actors, inFlight })));
type Case = typeof CASES[number];

const keyOf = ({ actors, inFlight }: Case) =>
  `${actors} ${actors === 1 ? "actor" : "actors"}, ${inFlight} in flight`;

/** The measure. */
export const request: Measure = {
  name: "request",
  about: "durable request: enqueue FULL, handle, state and reply FULL, answer",
  async run(bench) {
    const results = new Map<string, Map<string, Cell[]>>();
    const gone = new Set<string>();
    for (let round = 0; round < (bench.quick ? 1 : 3); round++) {
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        if (gone.has(subject.name)) continue;
        if (!await runSubject(bench, subject, results)) gone.add(subject.name);
      }
    }
    return rowsOf(results);
  },
};

/** False when the subject cannot be had. */
async function runSubject(
  bench: Bench,
  subject: Subject,
  results: Map<string, Map<string, Cell[]>>,
): Promise<boolean> {
  const started = await subject.start(await bench.folder());
  if ("missing" in started) {
    bench.say(`${subject.name} is left out: ${started.missing}`);
    return false;
  }
  await using server = started;
  const cells = results.get(subject.name) ?? new Map<string, Cell[]>();
  results.set(subject.name, cells);
  for (const each of CASES) {
    const cell = await runCase(server, subject.verb, each, bench.quick ? 500 : 2_500);
    cells.set(keyOf(each), [...cells.get(keyOf(each)) ?? [], cell]);
    bench.say(
      `${subject.name}, ${keyOf(each)}: ${Math.round(cell.perSecond)}/s, p50 ${cell.p50.toFixed(2)} ms`,
    );
  }
  return true;
}

async function runCase(
  server: ServerProcess,
  verb: string,
  { actors, inFlight }: Case,
  ms: number,
): Promise<Cell> {
  const path = (index: number) => `/${verb}/a${index % actors}`;
  using first = await Connection.open(server.port);
  for (let actor = 0; actor < actors; actor++) await first.post(path(actor));
  const cpu = cpuSeconds(server.pid);
  const warmUpMs = ms / 5;
  const { perSecond, latency } = await load({ port: server.port, inFlight, ms, warmUpMs, path });
  const cpuUs = (cpuSeconds(server.pid) - cpu) * 1e6 / (perSecond * (ms + warmUpMs) / 1_000);
  return { perSecond, p50: latency.p50, p99: latency.p99, cpuUs };
}

function rowsOf(results: ReadonlyMap<string, ReadonlyMap<string, readonly Cell[]>>): Row[] {
  const middle = (subject: string, key: string, field: keyof Cell) =>
    median((results.get(subject)?.get(key) ?? []).map((cell) => cell[field]));
  return CASES.flatMap((each) => {
    const key = keyOf(each);
    return [...results.keys()].map((subject): Row => {
      const value = middle(subject, key, "perSecond");
      const p50 = middle(subject, key, "p50");
      const isOurs = subject.startsWith(OURS);
      const ratios = isOurs
        ? [LIBSQL, OBJECT, "rivetkit"].filter((other) => results.has(other)).map((other): Ratio => ({
          to: other,
          times: value / middle(other, key, "perSecond"),
        }))
        : [];
      return {
        measure: "durable request",
        case: key,
        subject,
        value,
        unit: "/s",
        detail: `p50 ${p50.toFixed(2)} ms, p99 ${middle(subject, key, "p99").toFixed(2)} ms, ${
          Math.round(middle(subject, key, "cpuUs"))
        } µs CPU`,
        ratios,
        ...(subject === OURS ? { goals: goalsOf(each, { p50, ratios }) } : {}),
      };
    });
  });
}

function goalsOf(
  { actors, inFlight }: Case,
  { p50, ratios }: { p50: number; ratios: readonly Ratio[] },
): Goal[] {
  const times = (to: string) => ratios.find((ratio) => ratio.to === to)?.times ?? NaN;
  if (inFlight === 1) {
    return [
      { text: `≥ 0.8 × ${LIBSQL}`, met: times(LIBSQL) >= 0.8 },
      { text: "p50 ≤ 0.95 ms", met: p50 <= 0.95 },
    ];
  }
  return actors === 50 && Number.isFinite(times(OBJECT))
    ? [{ text: `≥ 3 × ${OBJECT}`, met: times(OBJECT) >= 3 }]
    : [];
}
