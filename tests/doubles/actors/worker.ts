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
    case "read_stdin":
      void readStdin();
      return;
    case "hostile":
      void hostile(neighbour ?? "");
      return;
  }
}

/** Tries every way out of a Worker that a bundle could take, and tells what worked. */
async function hostile(neighbour: string): Promise<void> {
  // A failed import also rejects somewhere inside; it must not end this Worker before it has told.
  globalThis.addEventListener("unhandledrejection", (event) => event.preventDefault());
  const found: string[] = [];
  const attempt = async (name: string, run: () => unknown) => {
    try {
      if (await run() !== false) found.push(name);
    } catch {
      // It cannot.
    }
  };
  for (const name of ["Deno", "Worker", "BroadcastChannel", "caches", "process", "Buffer"]) {
    await attempt(name, () => Reflect.get(globalThis, name) !== undefined);
  }
  await attempt("a Deno of its own", () => Reflect.set(globalThis, "Deno", { build: {}, internal: {} }));
  await attempt("stdout by process", async () => {
    const process = await import("node:process");
    return process.default.stdout.write("printed past the link\n");
  });
  await attempt("stdout by fs", async () => {
    const fs = await import("node:fs");
    return fs.writeSync(1, "printed past the link\n");
  });
  await attempt("a worker", async () => {
    const threads = await import("node:worker_threads");
    return new threads.Worker("", { eval: true });
  });
  await attempt("the network", () => fetch("http://127.0.0.1:1/"));
  await attempt("a file", () => fetch("file:///etc/hostname"));
  console.log("a line on the console");
  console.warn(`found ${JSON.stringify(found)}`);
  // A frame has no sender: this answers a message that is in somebody else's hands.
  globalThis.postMessage(JSON.stringify({ t: "commit", id: neighbour, send: [] }));
}

/** Steals what the supervisor says to the host, until the host notices. */
async function readStdin(): Promise<void> {
  // Without a global `Deno` the module's first evaluation fails, but half of it is there the second time.
  await import("node:process").catch(() => {});
  const fs = await import("node:fs").catch(() => import("node:fs"));
  for (let bytes = 0; bytes < 1_000_000;) bytes += fs.readSync(0, new Uint8Array(16));
}

runPure(actor);
