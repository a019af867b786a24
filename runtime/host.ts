/**
 * The main isolate of a pure host process: starts Workers without any permission, carries texts between them and the supervisor, and tells of
 * their errors. It judges nothing and parses nothing that a Worker says. Promises: a Worker's texts leave under the slot of that Worker and no
 * other; one Worker's error ends that Worker only; a Worker is told as ended only when its thread is; the process ends with its link.
 * Proven by `runtime/link/host_test.ts` and `runtime/faults_worker_test.ts`.
 */
import type { FromHost, ToHost } from "./link/link_messages.ts";
import { type ChildLink, connectToSupervisor } from "./link/child_link.ts";

const BEAT_MS = 1_000;
/** Memory can fill up between two beats: it is looked at more often, and told when it has grown by this much. */
const MEMORY_MS = 200;
const GROWN_BYTES = 64 << 20;
/** `new Worker()` blocks this isolate for about 9 ms; a pause between two lets relayed texts through. */
const SPAWN_PAUSE_MS = 4;
const MAX_WORKERS = 32;
/** A Worker's error overtakes what it said before: so long it is waited for that, in milliseconds. It tells which message threw. */
const DRAIN_MS = 10;

class Host {
  readonly #link: ChildLink;
  readonly #workers = new Map<number, Worker>();
  readonly #early = new Map<number, string[]>();
  #spawns: { slot: number; url: string }[] = [];
  #spawning = false;
  #toldRss = 0;

  constructor(link: ChildLink) {
    this.#link = link;
    this.#say({ t: "up" });
    setInterval(() => this.#beat(), BEAT_MS);
    setInterval(() => this.#watchMemory(), MEMORY_MS);
  }

  receive(slot: number, text: string): void {
    if (slot !== 0) {
      const worker = this.#workers.get(slot);
      if (worker) worker.postMessage(text);
      else this.#early.get(slot)?.push(text);
      return;
    }
    const message = JSON.parse(text) as ToHost; // the MAC proves that our own supervisor wrote it
    switch (message.t) {
      case "spawn":
        this.#early.set(message.slot, []);
        this.#spawns.push(message);
        return this.#spawnNext();
      case "end":
        return this.#end(message.slot);
      default:
        return message satisfies never;
    }
  }

  /** Workers beat when asked: their own loop has to turn for that. */
  #beat(): void {
    this.#say({ t: "beat", rss: this.#toldRss = Deno.memoryUsage().rss });
    for (const worker of this.#workers.values()) worker.postMessage({});
  }

  #watchMemory(): void {
    const { rss } = Deno.memoryUsage();
    if (rss - this.#toldRss > GROWN_BYTES) this.#say({ t: "rss", rss: this.#toldRss = rss });
  }

  #spawnNext(): void {
    if (this.#spawning) return;
    const next = this.#spawns.shift();
    if (!next) return;
    this.#spawn(next.slot, next.url);
    this.#spawning = true;
    setTimeout(() => {
      this.#spawning = false;
      this.#spawnNext();
    }, SPAWN_PAUSE_MS);
  }

  #spawn(slot: number, url: string): void {
    const early = this.#early.get(slot) ?? [];
    this.#early.delete(slot);
    if (this.#workers.size >= MAX_WORKERS) {
      return this.#say({ t: "error", slot, detail: `this host already has ${MAX_WORKERS} workers` });
    }
    let worker: Worker;
    try {
      worker = new Worker(url, { type: "module", name: `slot ${slot}`, deno: { permissions: "none" } });
    } catch (error) {
      return this.#say({ t: "error", slot, detail: String(error) });
    }
    this.#workers.set(slot, worker);
    worker.onmessage = (event: MessageEvent) => {
      if (typeof event.data === "string") this.#link.send(slot, event.data);
    };
    worker.onerror = (event) => {
      // Without this the error would end the whole process.
      event.preventDefault();
      const detail = `${event.message} (${event.filename ?? "?"}:${event.lineno}:${event.colno})`;
      setTimeout(() => this.#fail(slot, detail), DRAIN_MS);
    };
    // The first message of an isolate takes it half a millisecond more: a spare gets it over with before an actor waits for it.
    worker.postMessage({});
    for (const text of early) worker.postMessage(text);
  }

  #fail(slot: number, detail: string): void {
    if (this.#drop(slot)) this.#say({ t: "error", slot, detail });
  }

  /** Asks the Worker to close: `terminate` alone does not stop one that spins, and says nothing about it. */
  #end(slot: number): void {
    this.#spawns = this.#spawns.filter((spawn) => spawn.slot !== slot);
    this.#early.delete(slot);
    const worker = this.#workers.get(slot);
    if (!worker) return this.#say({ t: "ended", slot });
    const word = crypto.randomUUID();
    worker.onmessage = (event: MessageEvent) => {
      if (event.data === word && this.#drop(slot)) this.#say({ t: "ended", slot });
    };
    worker.postMessage({ end: word });
  }

  /** Forgets a Worker whose loop has ended; false when it is forgotten already. */
  #drop(slot: number): boolean {
    this.#workers.get(slot)?.terminate();
    return this.#workers.delete(slot);
  }

  #say(message: FromHost): void {
    this.#link.send(0, JSON.stringify(message));
  }
}

if (import.meta.main) {
  // Ctrl-C reaches the whole process group; the supervisor decides when a host ends.
  Deno.addSignalListener("SIGINT", () => {});
  // A Worker's unhandled rejection reaches this isolate too, and would end the process.
  globalThis.addEventListener("unhandledrejection", (event) => event.preventDefault());
  await connectToSupervisor((link) => {
    const host = new Host(link);
    return (entry) => host.receive(entry.slot, entry.text);
  });
}
