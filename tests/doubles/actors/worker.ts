/** A pure actor for the runtime's tests: counts, echoes, and misbehaves on request. */
import type { Decision, Envelope, PureActor } from "../../../runtime/actor.ts";
import { runPure } from "../../../runtime/pure_worker.ts";

interface State {
  readonly ref: string;
  readonly seq: number;
  readonly total: number;
}

type Payload = { n?: number; fault?: string; to?: string; neighbour?: string; times?: number };

const held: unknown[] = [];

const actor: PureActor<State> = {
  restore(loaded, ref) {
    const { seq, total } = loaded as { seq: number; total: number }; // what the tests' load gives
    return { ref, seq, total };
  },
  decide(state, message, env) {
    const payload = (message.payload ?? {}) as Payload; // the tests' own messages
    switch (message.type) {
      case "test.add":
        return add(state, payload.n ?? 1, env.now);
      case "test.ask":
        return { state, send: [{ to: "edge", type: "test.answer", payload: { total: state.total } }] };
      case "test.forward":
        return {
          state,
          send: Array.from({ length: payload.times ?? 1 }, () => ({
            to: payload.to ?? "edge",
            type: "test.add",
            payload: { n: payload.n },
          })),
        };
      case "test.live":
        return { state, send: [{ to: "edge", type: "test.delta", payload }] };
      case "test.gap":
        return { state, events: [{ seq: state.seq + 5, type: "gap", payload: {}, at: env.now }] };
      case "test.fault":
        misbehave(payload);
        return add(state, 0, env.now);
      default:
        return tell(state, message);
    }
  },
};

function add(state: State, n: number, at: number): Decision<State> {
  const seq = state.seq + 1;
  const total = state.total + n;
  return { state: { ...state, seq, total }, events: [{ seq, type: "added", payload: { n }, at }] };
}

function tell(state: State, message: Envelope): Decision<State> {
  const { type, payload } = message;
  return { state, send: [{ to: "edge", type: "test.heard", payload: { ref: state.ref, type, payload } }] };
}

function misbehave({ fault, neighbour }: Payload): void {
  switch (fault) {
    case "throw":
      throw new Error("asked to throw");
    case "loop":
      for (;;);
    case "heap":
      for (;;) held.push(new Array(1e6).fill(Math.random()));
    case "close":
      globalThis.close();
      return;
    case "hostile":
      void hostile(neighbour ?? "");
      return;
  }
}

/** Tries every way out of a Worker that a bundle could take, and tells what worked. */
async function hostile(neighbour: string): Promise<void> {
  const found: string[] = [];
  for (const name of ["Deno", "Worker", "BroadcastChannel", "caches", "process", "Buffer"]) {
    if (Reflect.get(globalThis, name) !== undefined) found.push(name);
  }
  console.log("a line on the console");
  try {
    const process = await import("node:process");
    process.default.stdout.write("printed past the link\n");
    found.push("stdout");
  } catch {
    // It cannot.
  }
  for (const target of ["https://127.0.0.1:1/", "file:///etc/hostname"]) {
    try {
      await fetch(target);
      found.push(target);
    } catch {
      // It cannot.
    }
  }
  console.warn(`found ${JSON.stringify(found)}`);
  // A frame has no sender: this answers a message that is in somebody else's hands.
  globalThis.postMessage(JSON.stringify({ t: "commit", id: neighbour, send: [] }));
}

runPure(actor);
