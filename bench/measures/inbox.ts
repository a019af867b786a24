/**
 * The inbox under load, on the real product: 1,000 items wait and 50 streams are open. How long the list takes, how long it takes from a decision until
 * the allowed command runs (it prints its own clock), and whether every stream heard of every decision.
 */
import { join } from "node:path";
import type { Item } from "../../edge/api.ts";
import { objects, sql } from "../../store/db.ts";
import { openStore } from "../../store/worker_db.ts";
import { columnsBut, Installation } from "../installation.ts";
import type { Bench, Measure } from "../measure.ts";
import { Samples } from "../samples.ts";
import type { Row } from "../table.ts";

const STREAMS = 50;
/** The edge allows eight a session. */
const STREAMS_PER_SESSION = 8;
const COMMAND = `tool:exec_command ${JSON.stringify({ command: "date +%s%3N" })}`;
const GIVE_UP_MS = 60_000;
const POLL_MS = 50;

/** The measure. */
export const inbox: Measure = {
  name: "inbox",
  about: "1,000 waiting items, 50 event streams: list, decision to tool start, lost events",
  async run(bench) {
    const waiting = bench.quick ? 100 : 1_000;
    const decisions = bench.quick ? 5 : 20;
    const folder = await bench.folder();
    await fillInbox(bench, folder, waiting, decisions);
    const installation = await Installation.start(folder);
    const listeners = new Listeners();
    try {
      await listeners.open(installation);
      bench.say(`${STREAMS} streams are open`);
      const list = await timeLists(installation, bench.quick ? 20 : 200);
      const decided = await decideAll(installation, decisions);
      bench.say(`list p95 ${list.percentile(0.95).toFixed(1)} ms; ${decided.length} decided`);
      const lost = await listeners.lost(new Set(decided.map(({ item }) => item.id)));
      bench.say(`${lost} events lost`);
      const starts = await startsOf(folder, decided);
      bench.say(`${starts.count} commands ran`);
      return rowsOf({ waiting, decisions, list, lost, starts });
    } finally {
      // It ends the streams.
      await installation.stop();
      await listeners.ended();
    }
  },
};

/** Real calls wait, each in a conversation of its own; the rest are copies of one of them, older than all, so that the list has them last. */
async function fillInbox(bench: Bench, folder: string, count: number, real: number): Promise<void> {
  const installation = await Installation.start(folder);
  for (let index = 0; index < real; index++) await installation.say(COMMAND);
  await until(async () => (await installation.inbox()).total === real);
  await installation.stop();
  bench.say(`${real} calls wait; copying to ${count}`);
  const store = await openStore({ url: `file:${join(folder, "data/callboard.db")}` });
  const items = await columnsBut(store, "pending_items", "id", "call_id", "created_at");
  const calls = await columnsBut(store, "tool_calls", "id");
  const [source] = objects<{ id: string; call_id: string }>(
    await store.query(sql("SELECT id, call_id FROM pending_items LIMIT 1")),
  );
  if (!source) throw new Error("nothing waits");
  await store.batch(
    Array.from({ length: count - real }, (_, index) => [
      sql(
        `INSERT INTO tool_calls (id, ${calls}) SELECT ?, ${calls} FROM tool_calls WHERE id = ?`,
        `copy-call-${index}`,
        source.call_id,
      ),
      sql(
        `INSERT INTO pending_items (id, call_id, created_at, ${items})
           SELECT ?, ?, created_at - 100000 - ?, ${items} FROM pending_items WHERE id = ?`,
        `copy-${index}`,
        `copy-call-${index}`,
        index,
        source.id,
      ),
    ]).flat(),
  );
  await store.close();
}

async function timeLists(installation: Installation, rounds: number): Promise<Samples> {
  const times = new Samples();
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await installation.inbox();
    times.add(performance.now() - began);
  }
  return times;
}

interface Decided {
  readonly item: Item;
  /** When the request left, milliseconds since the epoch. */
  readonly at: number;
}

/** One after the other, newest first; the next when the last one is no longer waiting. */
async function decideAll(installation: Installation, count: number): Promise<Decided[]> {
  const real = (await installation.inbox()).items.filter(({ id }) => !id.startsWith("copy-")).slice(0, count);
  if (real.length < count) throw new Error(`only ${real.length} real items on the first page`);
  const decided: Decided[] = [];
  for (const item of real) {
    const at = Date.now();
    await installation.allow(item);
    decided.push({ item, at });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return decided;
}

/** From the request to the time that the command printed, when all have run. */
async function startsOf(folder: string, decided: readonly Decided[]): Promise<Samples> {
  const store = await openStore({ url: `file:${join(folder, "data/callboard.db")}` });
  try {
    const finished = async () =>
      objects<{ id: string; result: string }>(
        await store.query(sql("SELECT id, result FROM tool_calls WHERE state = 'finished'")),
      );
    await until(async () => (await finished()).length >= decided.length);
    const times = new Samples();
    for (const { id, result } of await finished()) {
      const printed = Number(/\d{13}/.exec(result)?.[0]);
      const decision = decided.find(({ item }) => item.callId === id);
      if (decision) times.add(printed - decision.at);
    }
    return times;
  } finally {
    await store.close();
  }
}

/** Clients that follow the stream and note which items they saw applied. */
class Listeners {
  readonly #seen = Array.from({ length: STREAMS }, () => new Set<string>());
  readonly #ended: Promise<void>[] = [];

  async open(installation: Installation): Promise<void> {
    let cookie = "";
    for (const [index, seen] of this.#seen.entries()) {
      if (index % STREAMS_PER_SESSION === 0) cookie = await installation.signIn();
      const body = await installation.stream(cookie);
      // A stream that breaks brings nothing more, which is counted.
      this.#ended.push(follow(body, seen).catch(() => {}));
    }
  }

  /** How many events were missing at the end of the time limit, counting each item once for each stream. */
  async lost(expected: ReadonlySet<string>): Promise<number> {
    const missing = () =>
      this.#seen.reduce((sum, seen) => sum + [...expected].filter((id) => !seen.has(id)).length, 0);
    await until(() => Promise.resolve(missing() === 0)).catch(() => {});
    return missing();
  }

  /** Resolves when every stream has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }
}

async function follow(body: ReadableStream<Uint8Array>, seen: Set<string>): Promise<void> {
  let rest = "";
  for await (const text of decoded(body)) {
    const events = (rest + text).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (!/^event: item$/m.test(event)) continue;
      const { item } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "null");
      if (item.state === "applied") seen.add(item.id);
    }
  }
}

async function* decoded(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + GIVE_UP_MS;
  while (!await condition()) {
    if (performance.now() > giveUp) throw new Error("it takes too long");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface Results {
  readonly waiting: number;
  readonly decisions: number;
  readonly list: Samples;
  readonly lost: number;
  readonly starts: Samples;
}

function rowsOf({ waiting, decisions, list, lost, starts }: Results): Row[] {
  const common = { measure: "inbox", subject: "callboard" };
  const p95 = list.percentile(0.95);
  return [
    {
      ...common,
      case: `list, ${waiting} items wait, ${STREAMS} streams`,
      value: p95,
      unit: "ms p95",
      detail: `p50 ${list.p50.toFixed(1)} ms, ${list.count} requests for a page of 50`,
      goals: [{ text: "p95 < 200 ms", met: p95 < 200 }],
    },
    {
      ...common,
      case: "decision to tool start",
      value: starts.p50,
      unit: "ms p50",
      detail: `max ${starts.max} ms, ${starts.count} commands`,
    },
    {
      ...common,
      case: `${decisions} decisions × ${STREAMS} streams`,
      value: lost,
      unit: "lost",
      goals: [{ text: "no lost event", met: lost === 0 }],
    },
  ];
}
