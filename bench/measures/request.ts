/**
 * Durable requests: a message is committed (FULL), an actor handles it, its state and its answer are committed (FULL), the caller has the answer.
 * Every subject is a server process of its own under the same HTTP load; subjects take turns case by case, and the middle of three rounds counts.
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
];

/** Its package is large and it is slow: only when asked for. */
const RIVET: Subject = { name: "rivetkit", verb: "ask", start: startRivet };

const ROUNDS = 3;
const CASES = [1, 50].flatMap((actors) => [1, 16, 64].map((inFlight) => ({ actors, inFlight })));
type Case = typeof CASES[number];

const keyOf = ({ actors, inFlight }: Case) =>
  `${actors} ${actors === 1 ? "actor" : "actors"}, ${inFlight} in flight`;

type Results = Map<string, Map<string, Cell[]>>;

/** The measure. */
export const request: Measure = {
  name: "request",
  about: "durable request: enqueue FULL, handle, state and reply FULL, answer",
  async run(bench) {
    const results: Results = new Map();
    const gone = new Set<string>();
    for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
      await using servers = new AsyncDisposableStack();
      const running: [Subject, ServerProcess][] = [];
      for (const subject of bench.allPeers ? [...subjects, RIVET] : subjects) {
        if (gone.has(subject.name)) continue;
        const started = await subject.start(await bench.folder());
        if ("missing" in started) {
          gone.add(subject.name);
          bench.say(`${subject.name} is left out: ${started.missing}`);
        } else running.push([subject, servers.use(started)]);
      }
      await runRound(bench, round % 2 === 0 ? running : running.toReversed(), results);
    }
    return rowsOf(results);
  },
};

/** Case by case, every subject right after the other, so that what else the machine does hits all alike. */
async function runRound(
  bench: Bench,
  running: readonly [Subject, ServerProcess][],
  results: Results,
): Promise<void> {
  for (const each of CASES) {
    for (const [{ name, verb }, server] of running) {
      const cell = await runCase(server, verb, each, bench.quick ? 400 : 1_500);
      const cells = results.get(name) ?? new Map<string, Cell[]>();
      results.set(name, cells.set(keyOf(each), [...cells.get(keyOf(each)) ?? [], cell]));
      bench.say(`${keyOf(each)}, ${name}: ${Math.round(cell.perSecond)}/s, p50 ${cell.p50.toFixed(2)} ms`);
    }
  }
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
    // A cell without an answer has no latency.
    median((results.get(subject)?.get(key) ?? []).map((cell) => cell[field]).filter(Number.isFinite));
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
