/** What this machine and its environment say of how the tree of processes is to run. */

/** A live conversation costs about 12 MiB; half of the machine is left to everything else. */
export function liveByMemory(): number {
  const mebibytes = Deno.systemMemoryInfo().total / 1024 ** 2;
  return Math.min(500, Math.max(8, Math.floor(mebibytes / 2 / 12)));
}

/** What tells Deno to export telemetry, if it was told so here. */
export function telemetryEnv(): Record<string, string> {
  if (Deno.env.get("OTEL_DENO") !== "true") return {};
  return Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => name.startsWith("OTEL_")));
}

/** What child processes need to find Deno's cache. */
export function denoEnv(): Record<string, string> {
  return Object.fromEntries(
    ["DENO_DIR", "HOME", "XDG_CACHE_HOME"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
