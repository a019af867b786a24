/** How the operating system tells the supervisor to stop. */
import { systemClock } from "../lib/clock.ts";

/**
 * Resolves at the first SIGTERM or SIGINT; one that comes a second later or more ends the process. One Ctrl-C in a terminal arrives twice: from
 * the terminal, and from the task runner that passes it on.
 */
export function stopOnSignals(stopping: AbortController): Promise<void> {
  let firstAt = 0;
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      Deno.addSignalListener(signal, () => {
        const now = systemClock.monotonic();
        if (stopping.signal.aborted && now - firstAt > 1_000) Deno.exit(130);
        if (!stopping.signal.aborted) firstAt = now;
        stopping.abort();
        resolve();
      });
    }
  });
}
