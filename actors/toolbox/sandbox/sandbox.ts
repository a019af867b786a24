/**
 * Runs scripts for one conversation: in bwrap where it works, else directly in the workspace. One interface for both, so that tools need
 * not know; what differs is `mode`, which decides what policy may allow. A stop reaches the whole process group either way, and closing
 * stdin (which the toolbox's own death does too) is what triggers it. Proven by `tools/tools_test.ts`.
 */
import type { Clock } from "../../../lib/clock.ts";
import { bwrapArgs, cleanEnv, WORKSPACE } from "./bwrap.ts";
import type { HiddenPlace } from "./hidden_places.ts";
import { type Exit, type ProcessSpec, runProcess } from "./process.ts";

/** Whether a sandbox stands between a call and the machine. */
export type SandboxMode = "bwrap" | "none";

/** A bash script with arguments, run where `workspace` is the root. */
export interface ScriptSpec extends Pick<ProcessSpec, "stdin" | "timeoutMs" | "signal" | "onOutput"> {
  readonly script: string;
  readonly args: readonly string[];
  /** Host folder. */
  readonly workspace: string;
  /** What of the workspace the script must not see; nothing can be hidden without a sandbox. */
  readonly hidden?: readonly HiddenPlace[] | undefined;
  /** Folder to start in, relative to the workspace; empty for its root. */
  readonly cwd?: string | undefined;
  /** Between being told to end and being killed, in milliseconds. Default 0. */
  readonly graceMs?: number | undefined;
}

/** What `openSandbox` needs to know. */
export interface SandboxSettings {
  readonly mode: SandboxMode;
  readonly bwrap: string;
  readonly bash: string;
  readonly etc: string;
  readonly timeZone: string;
  readonly clock: Clock;
}

/** A place to run scripts in. */
export interface Sandbox {
  readonly mode: SandboxMode;
  /** The workspace's root as a script sees it. */
  rootOf(workspace: string): string;
  run(spec: ScriptSpec): Promise<Exit>;
}

/** Builds the runner for a mode that `probe` has found. */
export function openSandbox(settings: SandboxSettings): Sandbox {
  const rootOf = (workspace: string) => settings.mode === "bwrap" ? WORKSPACE : workspace;
  return {
    mode: settings.mode,
    rootOf,
    run(spec) {
      const cwd = spec.cwd ? `${rootOf(spec.workspace)}/${spec.cwd}` : rootOf(spec.workspace);
      const bash = ["--noprofile", "--norc", "-c", spec.script, "callboard", ...spec.args];
      const common = {
        stdin: spec.stdin,
        timeoutMs: spec.timeoutMs,
        graceMs: spec.graceMs ?? 0,
        signal: spec.signal,
        onOutput: spec.onOutput,
      };
      const env = cleanEnv(settings.timeZone);
      if (settings.mode === "none") {
        const home = { ...env, HOME: spec.workspace };
        return runProcess({ ...common, command: settings.bash, args: bash, env: home, cwd }, settings.clock);
      }
      const args = [
        ...bwrapArgs({ workspace: spec.workspace, hidden: spec.hidden, etc: settings.etc, cwd }),
        "/bin/bash",
        ...bash,
      ];
      return runProcess({ ...common, command: settings.bwrap, args, env }, settings.clock);
    },
  };
}

/**
 * Starts `$2` as a process group of its own, with nothing on its stdin. When our own stdin ends, the group gets SIGTERM and, `$1` seconds
 * later, SIGKILL; when the command ends, so does what it left behind. The script itself says nothing, not even that its job is done: only the
 * command has the pipes.
 */
export const SUPERVISED = `
ulimit -c 0
exec 3<&0 4>&1 5>&2 >/dev/null 2>&1
set -m
"$BASH" --noprofile --norc -c "$2" </dev/null >&4 2>&5 3<&- 4>&- 5>&- &
job=$!
exec 4>&- 5>&-
(read -r _ <&3; kill -TERM -- "-$job"; sleep "$1"; kill -KILL -- "-$job") >/dev/null 2>&1 &
watch=$!
set +m
wait "$job"
code=$?
kill -KILL -- "-$job" "-$watch"
exit "$code"
`;
