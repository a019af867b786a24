/** The built-in tools as an installation with a sandbox offers them, for tests that only ask what they say of themselves. */
import { WorkspaceFiles } from "../../actors/toolbox/files/workspace_files.ts";
import { openSandbox } from "../../actors/toolbox/sandbox/sandbox.ts";
import type { Tool } from "../../actors/toolbox/tool.ts";
import { builtinTools } from "../../actors/toolbox/tools/builtin.ts";
import { systemClock } from "../../lib/clock.ts";

/** The tools. */
export function offeredTools(): Tool[] {
  const sandbox = openSandbox({
    mode: "bwrap",
    bwrap: "/usr/bin/bwrap",
    bash: "/bin/bash",
    etc: "/none",
    timeZone: "UTC",
    clock: systemClock,
  });
  const files = new WorkspaceFiles(sandbox);
  return builtinTools({ files, sandbox, clock: systemClock, timeZone: "UTC" });
}
