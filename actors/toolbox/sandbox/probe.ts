/**
 * Finds out at start whether the sandbox works on this machine: some kernels and containers forbid user namespaces, and then nothing may
 * pretend. Fails closed: any doubt is `none`, with a sentence for the operator. Proven by `tools/tools_test.ts`.
 */
import type { SandboxMode, SandboxSettings } from "./sandbox.ts";
import { openSandbox } from "./sandbox.ts";

/** What was found; `detail` says what to do about `none`. */
export interface Probe {
  readonly mode: SandboxMode;
  readonly detail: string;
}

/** Tries the recipe on an empty folder. Never rejects. */
export async function probeSandbox(
  settings: Omit<SandboxSettings, "mode">,
  folder: string,
): Promise<Probe> {
  const sandbox = openSandbox({ ...settings, mode: "bwrap" });
  let said = "";
  const decoder = new TextDecoder();
  try {
    const exit = await sandbox.run({
      script: `test ! -e /root && test -w . && echo works`,
      args: [],
      workspace: folder,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      onOutput: (_, bytes) => void (said += decoder.decode(bytes, { stream: true })),
    });
    if (exit.code === 0 && said === "works\n") return { mode: "bwrap", detail: "bwrap works" };
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
  }
  return {
    mode: "none",
    detail:
      `No sandbox: ${said.trim().slice(0, 300) || "bwrap gave no sign"}. Install bubblewrap and allow ` +
      `unprivileged user namespaces; until then every effect is asked for, each time.`,
  };
}
