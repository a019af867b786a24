/** A pure actor for the runtime's tests: counts, echoes, and misbehaves on request. */
import type { Decision, Envelope, PureActor } from "../../../runtime/actor.ts";
import { runPure } from "../../../runtime/pure_worker.ts";

interface State {
  readonly ref: string;
  readonly seq: number;
  readonly total: number;
}

type Payload = {
  n?: number;
  fault?: string;
  to?: string;
  neighbour?: string;
  times?: number;
  /** The fault passes after so many crashes in a row. Default: never. */
  crashes?: number;
};

const held: unknown[] = [];
/** Crashes in a row before this incarnation, as it was told when it woke. */
let crashes = 0;

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
        if (crashes < (payload.crashes ?? Infinity)) misbehave(payload);
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
  if (type === "actor.woke") crashes = (payload as { crashes: number }).crashes; // what the supervisor tells
  return { state, send: [{ to: "edge", type: "test.heard", payload: { ref: state.ref, type, payload } }] };
}

function misbehave({ fault, neighbour }: Payload): void {
  switch (fault) {
    case "throw":
      throw new Error("asked to throw");
    case "reject":
      void Promise.reject(new Error("asked to reject"));
      return;
    case "exit":
      Deno.exit(0);
      return;
    case "exit by node":
      void exitByNode("exit");
      return;
    case "kill":
      Deno.kill(Deno.pid);
      return;
    case "kill by node":
      void exitByNode("kill");
      return;
    case "microtasks": {
      const again = () => queueMicrotask(again);
      return again();
    }
    case "regex":
      /^(a+)+$/.test("a".repeat(60) + "b");
      return;
    case "chatter":
      // It talks, but its event loop does not turn.
      for (let at = performance.now();;) {
        if (performance.now() - at < 100) continue;
        at = performance.now();
        console.log("still here");
      }
    case "flood":
      for (;;) globalThis.postMessage('{"t":"log","level":"info","text":"flood"}');
    case "answer and loop":
      globalThis.postMessage("nothing that the supervisor knows");
      for (;;);
    case "close and loop":
      globalThis.close();
      for (;;);
    case "buffers":
      // A step at a time, as fast as a download.
      for (let at = performance.now();;) {
        if (performance.now() - at < 10) continue;
        at = performance.now();
        held.push(new Uint8Array(4 << 20).fill(1));
      }
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
  await attempt("stdin by fs", async () => {
    const fs = await node(() => import("node:fs"));
    return fs.readSync(0, new Uint8Array(16)) > 0;
  });
  await attempt("the link by net", async () => {
    const net = await node(() => import("node:net"));
    for (let fd = 3; fd < 64; fd++) {
      new net.Socket({ fd }).on("error", () => {}).write("spoken past the link");
    }
  });
  await attempt("the link by fs", async () => {
    const fs = await node(() => import("node:fs"));
    const spoken = Array.from({ length: 61 }, (_, index) => index + 3).filter((fd) => {
      try {
        return fs.writeSync(fd, "spoken past the link") > 0;
      } catch {
        return false;
      }
    });
    return spoken.length > 0;
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

/** Ends the process, as far as Node's module for that lets it; else it throws, and nobody catches it. */
async function exitByNode(how: "exit" | "kill"): Promise<void> {
  await import("node:process").catch(() => {}); // as below
  const { default: process } = await import("node:process");
  if (how === "exit") process.exit(0);
  process.kill(process.pid, "SIGKILL");
}

/** A module of Node's. Without a global `Deno` its first evaluation fails, but half of it may be there the second time. */
async function node<T>(load: () => Promise<T>): Promise<T> {
  return await load().catch(load);
}

runPure(actor);
