/**
 * The first statement of every pure Worker's bundle, as text for esbuild's banner. It runs before any module of the actor: takes away what a
 * Worker without permissions could still misuse, for good, so that no imitation can be put in its place (Deno's `node:` modules look for a global
 * `Deno`); beats when the host asks, from this isolate's own loop, and tells with every fifth beat how much heap it uses (a timer of its own would
 * cost each Worker 1.5 MiB and 4 ms: Deno loads them when they are first touched); turns the console into log messages, because stdout belongs to
 * the link; and closes when the host says so, from this isolate's own loop, with the word that the host gave: one that spins does not, and no other code
 * can say it. What it cannot take away, such as a read of stdin by `node:fs`, the link's MAC and sequence make harmless. Proven by
 * `faults_test.ts` and `faults_worker_test.ts`.
 */

/** Plain JavaScript; keeps nothing that the actor could reach. */
export const workerPrelude = `(() => {
  const scope = globalThis, post = scope.postMessage.bind(scope), close = scope.close.bind(scope);
  const memory = scope.Deno.memoryUsage;
  let beats = 0;
  scope.addEventListener("message", (event) => {
    if (typeof event.data === "string") return;
    event.stopImmediatePropagation();
    const word = event.data.end;
    if (word === undefined) return post(beats++ % 5 ? '{"t":"beat"}' : '{"t":"heap","bytes":' + memory().heapUsed + "}");
    post(word);
    close();
  });
  const none = { value: undefined, writable: false, configurable: false };
  for (const name of ["Deno", "Worker", "BroadcastChannel", "caches", "process", "Buffer", "global"]) Object.defineProperty(scope, name, none);
  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return String(value.stack ?? value);
    try { return JSON.stringify(value) ?? String(value); } catch { return String(value); }
  };
  const log = (level) => (...args) => post(JSON.stringify({ t: "log", level, text: args.map(text).join(" ").slice(0, 10000) }));
  scope.console = { debug: log("debug"), log: log("info"), info: log("info"), warn: log("warn"), error: log("error"), trace: log("debug") };
  scope.close = () => post('{"t":"bye"}');
})();`;
