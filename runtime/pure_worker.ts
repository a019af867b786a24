/**
 * Runs a pure actor in its Worker: `runPure(actor)` is the whole of an entry file. It listens from the first line, says ready, and answers each message with its commit; the commits of one delivery leave in one text. The state
 * advances before the commit is on disk; when the supervisor refuses a commit it ends this incarnation. It knows no rows and no other
 * actor. Proven by `runtime_test.ts`.
 */
import type { Decision, Env, Envelope, PureActor } from "./actor.ts";
import type { FromWorker, WorkerCommit } from "./link/link_messages.ts";

/** What the Worker's global scope offers; named here because the compiler's library is that of the main isolate. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<string>) => void) | null;
  postMessage(text: string): void;
}

type Incoming =
  | {
    t: "start";
    ref: string;
    incarnation: number;
    loaded: unknown;
    woke: Envelope;
    messages: Envelope[];
  }
  | { t: "deliver"; messages: Envelope[] };

/** Decisions do not wait longer than this for those behind them. */
const GATHER_MS = 5;

/** Runs the actor for as long as the Worker lives. Returns at once. */
export function runPure<State>(actor: PureActor<State>): void {
  const scope = globalThis as unknown as WorkerScope; // a module Worker's global scope has both
  const post = scope.postMessage.bind(scope);
  const say = (message: FromWorker) => post(JSON.stringify(message));
  let state: State | undefined;
  let started = false;

  scope.onmessage = (event) => {
    const incoming = JSON.parse(event.data) as Incoming; // only the host's main isolate can post to this Worker
    if (incoming.t === "start") {
      state = actor.restore(incoming.loaded, incoming.ref);
      started = true;
      answer([incoming.woke]);
    }
    answer(incoming.messages);
  };
  say({ t: "ready" });

  function answer(messages: readonly Envelope[]): void {
    let commits: WorkerCommit[] = [];
    let since = performance.now();
    const flush = () => {
      if (commits.length > 0) say({ t: "commits", commits });
      commits = [];
      since = performance.now();
    };
    try {
      for (const message of messages) {
        commits.push(decide(message));
        if (performance.now() - since > GATHER_MS) flush();
      }
    } finally {
      // What was decided before one throws counts, and the supervisor must know at which it threw.
      flush();
    }
  }

  function decide(message: Envelope): WorkerCommit {
    if (!started) throw new TypeError("a message arrived before the start");
    // `restore` has set it.
    const decision: Decision<State> = actor.decide(state as State, message, env());
    state = decision.state;
    const { events, send, ops } = decision;
    return {
      id: message.id,
      ...(events?.length ? { events } : {}),
      ...(send?.length ? { send } : {}),
      ...(ops?.length ? { ops } : {}),
    };
  }
}

function env(): Env {
  return { now: Date.now(), newId: freshId };
}

let lastMs = 0;
let counter = 0;

/** A UUIDv7 (RFC 9562) with a 12-bit counter, so that ids of one Worker rise; no dependency in the bundle. */
function freshId(): string {
  const now = Date.now();
  counter = now > lastMs ? 0 : counter + 1;
  if (counter > 0xfff) {
    lastMs++;
    counter = 0;
  } else {
    lastMs = Math.max(lastMs, now);
  }
  const random = crypto.getRandomValues(new Uint8Array(8));
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
  const time = lastMs.toString(16).padStart(12, "0");
  const tail = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const count = counter.toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
