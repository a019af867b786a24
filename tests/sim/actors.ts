/**
 * The actors of the simulation, written to the real interfaces. Conversations and `core` write one event for every durable message, count it
 * with an operation that may not run twice, and pass work on along its route. The `world` gateway looks before it acts, acts once, and
 * replies. Poisoned work always throws.
 */
import { fail, ok } from "../../lib/result.ts";
import type { Delivery, Effects, Envelope, Gateway, GatewayContext, PureActor } from "../../runtime/actor.ts";
import type { KindSpec, OpStatements, Vocabulary } from "../../runtime/vocabulary.ts";
import { sql } from "../../store/db.ts";
import type { Load } from "../../store/read.ts";
import type { Shell } from "./process.ts";

/** Work, wherever it goes. `callId` is unique; `route` names who gets it next. */
export interface Work {
  readonly callId: string;
  readonly route: readonly string[];
  readonly poison?: boolean;
}

const control = ["sim.stop", "request.failed"];
const ephemeral = ["sim.live", "actor.woke"];
const types = ["sim.work", "sim.act", "sim.acted", "sim.end", "sim.alarm", ...control, ...ephemeral];

/** `sim.*` from anybody to anybody who exists. */
export const vocabulary: Vocabulary = {
  kindOf: (ref) => /^(conversation\/\d+|core|world|supervisor|edge)$/.exec(ref)?.[0].split("/")[0],
  check(_from, { to, type, payload }) {
    if (vocabulary.kindOf(to) === undefined) return fail("unknown_type", `"${to}" names no actor`);
    if (!types.includes(type)) return fail("unknown_type", `"${type}" is not in the catalogue`);
    return ok({ lane: laneOf(type), durable: !ephemeral.includes(type), payload });
  },
  isRequest: (type) => type !== "request.failed",
};

/** The lane of a message type. */
export function laneOf(type: string): "control" | "normal" {
  return control.includes(type) ? "control" : "normal";
}

/** The kinds; their entries are names that the link double reads. */
export const kinds: readonly KindSpec[] = [
  { kind: "world", mode: "gateway", entry: "/sim/world.ts", flags: [], start: "demand" },
  { kind: "core", mode: "pure", entry: "/sim/worker.js", placement: "core" },
  { kind: "conversation", mode: "pure", entry: "/sim/worker.js", placement: "shared" },
];

/** One operation: `sim.count` adds one to the actor's counter. */
export const opStatements: OpStatements = ({ op }, { ref, now }) => {
  if (op !== "sim.count") return fail("unknown_type", `no operation "${op}"`);
  return ok([
    sql(
      `INSERT INTO settings (key, value, at) VALUES (?, '1', ?)
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1, at = excluded.at`,
      `count ${ref}`,
      now,
    ),
  ]);
};

interface State {
  readonly ref: string;
  readonly seq: number;
}

/** What conversations and `core` restore themselves from. */
export const loads: Readonly<Record<string, Load>> = {
  conversation: async (db, id) => ({ seq: await lastEvent(db, `conversation/${id}`) }),
  core: async (db) => ({ seq: await lastEvent(db, "core") }),
};

async function lastEvent(db: Parameters<Load>[0], ref: string): Promise<number> {
  const rows = await db.query(sql("SELECT coalesce(max(seq), 0) FROM events WHERE actor = ?", ref));
  return Number(rows.rows[0]?.[0]);
}

/** The pure actor. */
export const pureActor: PureActor<unknown> = {
  restore: (loaded, ref): State => ({ ref, seq: (loaded as { seq: number }).seq }), // what `loads` gave
  decide(given, message, env) {
    const state = given as State; // only `restore` and this function make states
    if (message.type === "actor.woke") return { state };
    if (message.type === "sim.live") {
      return { state, send: [{ to: "edge", type: "sim.live", payload: { from: state.ref } }] };
    }
    const work = message.payload as Work; // the simulation's own messages
    if (work.poison) throw new Error("poisoned work");
    const next = message.type === "sim.work" ? nextOf(message, work) : undefined;
    const seq = state.seq + 1;
    const payload = { message: message.id, child: next?.payload.callId ?? null };
    const chatter = seq % 4 === 0
      ? [{ to: `conversation/${seq % 3}`, type: "sim.live", payload: { from: state.ref } }]
      : [];
    return {
      state: { ...state, seq },
      events: [{ seq, type: "handled", payload, at: env.now }],
      send: [...(next ? [next] : []), ...chatter],
      ops: [{ op: "sim.count" }],
    };
  },
};

function nextOf({ id }: Envelope, { route }: Work) {
  const [to, ...rest] = route;
  if (to === undefined) return undefined;
  const type = to === "world" ? "sim.act" : to === "edge" ? "sim.end" : "sim.work";
  return { to, type, payload: { callId: `${id}/next`, route: rest } };
}

/** The world outside: effects can be seen, and cannot be taken back. */
export interface World {
  happened(id: string): boolean;
  act(id: string, key: string): void;
}

/** Thrown by the plan's wish. */
class Planned extends Error {
  override readonly name = "Planned";
}

/** The gateway to the world, in one process. */
export function worldGateway(world: World, shell: Shell): Gateway {
  let context: GatewayContext;
  const sleep = (ms: number) => new Promise<void>((resolve) => shell.after(ms, resolve));
  const risk = async () => {
    await sleep(shell.plan.work());
    switch (shell.plan.gatewayFault()) {
      case "reject":
        throw new Planned("the plan's wish");
      case "exit":
        shell.exit(9);
        return await new Promise<never>(() => {});
      case "none":
    }
  };
  return {
    start(given) {
      context = given;
      return Promise.resolve();
    },
    keyOf: (message) => message.from,
    async handle({ message, resumed, signal, started }: Delivery): Promise<Effects | void> {
      if (message.type !== "sim.act") return;
      const { callId, poison } = message.payload as Work; // the simulation's own messages
      const reply = { send: [{ to: message.from, type: "sim.acted", payload: { callId, route: [] } }] };
      await risk();
      if (poison) throw new Planned("poisoned work");
      if (resumed && world.happened(message.id)) return reply;
      const committed = await started({ callId });
      if (!committed.ok) return;
      await risk();
      while (!context.mayAct()) {
        signal.throwIfAborted();
        await sleep(100);
      }
      world.act(message.id, message.from);
      await risk();
      return reply;
    },
  };
}
